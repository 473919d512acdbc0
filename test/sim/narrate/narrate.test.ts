import { expect, test } from '@jest/globals';
import { narrate } from './narrate.ts';

const addrs = '/apis/edge-operator.dev/v1alpha1/namespaces/team-a/reservedaddrs';
const id = 'ra_tnzMzeLw0lCB1s7hdHi2O0xOSxM';

const told = (...lines: readonly string[]) => narrate({ lines, flights: new Map() });

test('a request and its answer are one line where nothing came between', () => {
  expect(
    told(
      `00:00:01.000 op-0.0       -> kube #1 PATCH ${addrs}/x {"metadata":{"finalizers":["edge-operator.dev/external-resource"]}}`,
      '00:00:01.001 kube         #1 200 {"kind":"ReservedAddr"}',
      '00:00:01.002 op-0.0       <- #1 200',
    ),
  ).toEqual(['   00:00:01.000  op-0       changes ReservedAddr team-a/x: finalizers ["external-resource"] -> 200']);
});

test('and two where something did', () => {
  expect(
    told(
      '00:00:01.000 op-0.0       -> cloud #1 GET /bot_users?limit=100',
      '00:00:01.001 op-1.0       is killed',
      '00:00:01.001 cloud        #1 200 {}',
      '00:00:01.002 op-0.0       <- #1 200',
    ),
  ).toEqual([
    '   00:00:01.000  op-0       reads bot users of cloud (#1)',
    '   00:00:01.001  op-1       is killed',
    '   00:00:01.002  op-0       hears of #1: 200',
  ]);
});

test('what a service does for somebody who is gone is told', () => {
  expect(
    told(
      `00:00:01.000 op-0.0       -> cloud #1 DELETE /reserved_addrs/${id}`,
      '00:00:01.001 op-0.0       dies after sending of #1',
      '00:00:01.002 cloud        #1 204',
    ),
  ).toEqual([
    '   00:00:01.000  op-0       deletes reserved addrs ra_tnzMze of cloud (#1)',
    '   00:00:01.001  op-0       dies after sending of #1',
    '   00:00:01.002  cloud      does #1: 204',
  ]);
});

test('watches, leases, events that were noted, and what goes as usual are left out', () => {
  expect(
    told(
      '00:00:01.000 op-0.0       -> kube #1 GET /apis/edge-operator.dev/v1alpha1/botusers?watch=true',
      '00:00:01.001 kube         #1 200 begins',
      '00:00:01.001 op-0.0       <~ #1 {"type":"BOOKMARK"}',
      '00:00:01.000 op-0.0       -> kube #2 PUT /apis/coordination.k8s.io/v1/namespaces/a/leases/b {}',
      '00:00:01.001 kube         #2 200 {}',
      '00:00:01.001 op-0.0       <- #2 200',
      '00:00:01.002 op-0.0       info: started {}',
    ),
  ).toEqual([]);
});

test('what people do, what breaks, and what is wrong', () => {
  expect(
    told(
      `00:00:01.000 person       kube POST ${addrs} {"metadata":{"name":"x"},"spec":{"region":"eu"}} 201`,
      `00:00:02.000 person       kube PATCH ${addrs}/x [{"op":"add","path":"/spec","value":{}}] 422`,
      `00:00:03.000 person       cloud DELETE /reserved_addrs/${id}  204 `,
      '00:00:04.000 op-0.0       -> cloud #1 POST /reserved_addrs {"region":"eu"}',
      '00:00:04.001 op-0.0       <x #1 ECONNRESET',
      '1d 00:00:05.000 VIOLATION    one-object: two of them',
    ),
  ).toEqual([
    '   00:00:01.000  person     creates ReservedAddr team-a/x spec {"region":"eu"}',
    '   00:00:02.000  person     changes ReservedAddr team-a/x: spec {} -> 422',
    '   00:00:03.000  person     deletes reserved addrs ra_tnzMze of cloud',
    '   00:00:04.000  op-0       creates one of reserved addrs at cloud {"region":"eu"} -> ECONNRESET',
    '!! 1d 00:00:05.000  VIOLATION  one-object: two of them',
  ]);
});

import { beforeEach, describe, expect, test } from '@jest/globals';
import { KubeError } from '../../kube/errors.ts';
import type { ResourceType } from '../../kube/types.ts';
import { reportFailure } from '../status/outcome.ts';
import { ServiceRoutes } from './service-route.ts';

const target = { namespace: 'team', name: 'agent', port: 4040 };
const pod = { kind: 'Pod', namespace: 'team', name: 'agent-1' };
const ours = { type: 'ClusterIP', clusterIP: '10.96.0.7', selector: { app: 'agent' }, ports: [{ port: 4040 }] };

let spec: object | undefined;
let endpoints: object[];
let failure: Error | undefined;
let asked: string[];
let now: number;
let routes: ServiceRoutes;

beforeEach(() => {
  [spec, endpoints, failure, asked, now] = [ours, [{ addresses: ['10.0.0.5'], targetRef: pod }], undefined, [], 0];
  const answer = async (type: ResourceType, options: object, body: unknown) => {
    asked.push(`${type.plural} ${JSON.stringify(options)}`);
    if (failure !== undefined) throw failure;
    return body as never;
  };
  routes = new ServiceRoutes({
    monotonic: { now: () => now },
    reader: {
      get: (type, ref) => answer(type, ref, spec && { metadata: { name: 'agent' }, spec }),
      listAll: (type, options = {}) => answer(type, options, { items: [{ metadata: { name: 's' }, endpoints }] }),
    },
  });
});

const refusalOf = async () => {
  const report = await routes.addressOf(target).then(String, reportFailure);
  return typeof report === 'string' ? report : `${report.reason}: ${report.message}`;
};

describe('a Service in front of pods of its namespace', () => {
  test('is connected to by its own address', async () => {
    expect(await routes.addressOf(target)).toBe('10.96.0.7');
    expect(asked).toEqual([
      'services {"namespace":"team","name":"agent"}',
      'endpointslices {"namespace":"team","labelSelector":"kubernetes.io/service-name=agent"}',
    ]);
  });

  test('without one by that of an endpoint that is ready', async () => {
    spec = { ...ours, clusterIP: 'None', ports: [] };
    endpoints = [
      { addresses: ['10.0.0.4'], targetRef: pod, conditions: { ready: false } },
      { addresses: ['10.0.0.6'], targetRef: pod, conditions: { ready: true } },
      { addresses: ['10.0.0.5'], targetRef: { kind: 'Pod' }, conditions: {} },
    ];
    expect(await routes.addressOf(target)).toBe('10.0.0.5');
  });

  test('is looked at once for all, and again after 10 s', async () => {
    await Promise.all([routes.addressOf(target), routes.addressOf(target)]);
    now = 9_999;
    await routes.addressOf(target);
    expect(asked).toHaveLength(2);
    now = 10_000;
    spec = { ...ours, type: 'ExternalName' };
    expect(await refusalOf()).toMatch(/^Rejected: .*ExternalName/);
  });
});

describe('no request goes to', () => {
  const cases: readonly [what: string, spec: object, endpoints: object[], message: RegExp][] = [
    ['an alias', { type: 'ExternalName', externalName: 'metadata.google.internal' }, [], /is of type ExternalName/],
    ['an alias with a selector', { ...ours, type: 'ExternalName', externalName: 'x' }, [], /is of type ExternalName/],
    ['a Service without a selector', { ...ours, selector: undefined }, [], /has no selector/],
    ['a Service with an empty selector', { ...ours, selector: {} }, [], /has no selector/],
    ['an endpoint made by hand', ours, [{ addresses: ['10.0.0.5'] }], /an endpoint that is no pod of its namespace/],
    ['a node', ours, [{ addresses: ['10.0.0.5'], targetRef: { kind: 'Node' } }], /no pod of its namespace/],
    ['a pod elsewhere', ours, [{ addresses: ['10.0.0.5'], targetRef: { ...pod, namespace: 'x' } }], /no pod of its/],
    ['a metadata service', ours, [{ addresses: ['169.254.169.254'], targetRef: pod }], /169\.254\.169\.254", which is/],
    [
      'the operator itself',
      { ...ours, clusterIP: '127.0.0.1' },
      [],
      /leads to "127\.0\.0\.1", which is the operator's/,
    ],
    ['a name', ours, [{ addresses: ['evil.test'], targetRef: pod }], /"evil\.test", which is no IP address/],
    [
      'another endpoint beside a pod',
      ours,
      [{ addresses: ['10.0.0.5'], targetRef: pod }, { addresses: ['10.0.0.6'] }],
      /no pod/,
    ],
    ['a headless one', { ...ours, clusterIP: 'None' }, [{ addresses: ['::1'], targetRef: pod }], /"::1", which is/],
  ];
  test.each(cases)('%s', async (_, given, there, message) => {
    [spec, endpoints] = [given, there];
    const refusal = await refusalOf();
    expect(refusal).toMatch(/^Rejected: spec\.serviceRef: Service team\/agent .*: only a Service that selects pods/);
    expect(refusal).toMatch(message);
  });
});

describe('what is not there', () => {
  test('is told by its name', async () => {
    spec = undefined;
    expect(await refusalOf()).toBe('DependencyNotReady: Service team/agent does not exist');
  });

  test.each([
    ['another port', { ...ours, ports: [{ port: 80 }] }, 'DependencyNotReady', 'has no TCP port 4040'],
    [
      ...(['a port of another protocol', { ...ours, ports: [{ port: 4040, protocol: 'UDP' }] }] as const),
      ...(['DependencyNotReady', 'has no TCP port 4040'] as const),
    ],
    ['no address of its own, and no endpoint', { ...ours, clusterIP: 'None' }, 'Unreachable', 'has no ready endpoint'],
  ])('a Service with %s', async (_, given, reason, why) => {
    [spec, endpoints] = [given, []];
    expect(await refusalOf()).toBe(`${reason}: Service team/agent ${why}`);
  });

  test('a right to look', async () => {
    failure = new KubeError('getting Service', { status: 403, message: 'forbidden' });
    expect(await refusalOf()).toMatch(/^DependencyNotReady: Service team\/agent cannot be looked at: .*EndpointSlices/);
  });
});

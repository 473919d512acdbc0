import { describe, expect, test } from '@jest/globals';
import type { Tunnel } from '../../../agent-client/schemas.ts';
import { decide, type TunnelAction } from './decide.ts';
import { definitionOf, type Started, startedOf, startedTunnel, wanted } from './started.ts';

const rates = { count: 0, rate1: 0, rate5: 0, rate15: 0, p50: 0, p90: 0, p95: 0, p99: 0 };
const spec = { agentRef: { name: 'edge' }, proto: 'http', addr: '8080' };
const options = { subdomain: 'shop' };
const object = { apiVersion: 'v1', kind: 'AgentTunnel', metadata: { name: 'web', uid: 'u1' }, spec };

function shows(config: object = {}, proto = 'http'): Tunnel {
  return {
    name: 'web',
    uri: '/api/tunnels/web',
    public_url: 'http://web.localhost',
    proto,
    config: { addr: '8080', inspect: true, ...config },
    metrics: { conns: { ...rates, gauge: 0 }, http: rates },
  };
}
const asks = (fields: object = {}): Started => wanted(object, { ...spec, ...fields }, 'web', 'http://agent');

describe('decide', () => {
  const cases: readonly [
    why: string,
    wanted: Started,
    started: Started | undefined,
    running: Tunnel | undefined,
    TunnelAction,
  ][] = [
    ['nothing runs', asks(), undefined, undefined, { kind: 'start' }],
    ['what we started vanished', asks(), asks(), undefined, { kind: 'start' }],
    ['what we started runs', asks({ inspect: true }), asks({ inspect: true }), shows(), { kind: 'none' }],
    ['inspect was not asked for', asks(), asks(), shows({ inspect: false }), { kind: 'none' }],
    ['another addr', asks({ addr: '1' }), asks(), shows(), { kind: 'replace', fields: ['addr'] }],
    [
      'everything is new',
      asks({ proto: 'tcp', addr: '1', inspect: false, options }),
      asks(),
      shows(),
      { kind: 'replace', fields: ['proto', 'addr', 'inspect', 'options'] },
    ],
    ['options, which are not shown', asks({ options }), asks(), shows(), { kind: 'replace', fields: ['options'] }],
    ['the agent writes addr in its way', asks(), asks(), shows({ addr: 'http://localhost:8080' }), { kind: 'none' }],
    [
      'the agent showed it otherwise when it started it',
      asks(),
      { ...asks(), shown: { proto: 'http', addr: 'upstream/8080' } },
      shows({ addr: 'upstream/8080' }),
      { kind: 'none' },
    ],
    ["another's, as asked", asks({ options }), undefined, shows({ addr: 'localhost:8080' }), { kind: 'adopt' }],
    ["another's, of another proto", asks(), undefined, shows({}, 'tcp'), { kind: 'conflict', field: 'proto' }],
    [
      "another's, with another option",
      asks({ options }),
      undefined,
      shows({ subdomain: 'other' }),
      { kind: 'conflict', field: 'subdomain' },
    ],
    ["another's took the place of ours", asks(), asks(), shows({ addr: '1' }), { kind: 'conflict', field: 'addr' }],
    [
      "another's took the place of ours, as is asked now",
      asks({ addr: '1' }),
      asks(),
      shows({ addr: '1' }),
      { kind: 'adopt' },
    ],
  ];
  test.each(cases)('%s', (_why, asked, started, running, expected) => {
    const given = asked.options === asks({ options }).options ? options : {};
    expect(decide({ wanted: asked, options: given, started, running })).toEqual(expected);
  });
});

test('no option stands in for a field of its own', () => {
  const body = definitionOf(
    { ...spec, options: { name: 'x', proto: 'x', addr: 'x', inspect: false, more: [1] } },
    'web',
  );
  expect(JSON.parse(JSON.stringify(body))).toEqual({ name: 'web', proto: 'http', addr: '8080', more: [1] });
});

test('options are on record as a fingerprint only', () => {
  expect(JSON.stringify(asks({ options: { basic_auth: 'user:hunter2' } }))).not.toContain('hunter2');
  expect(asks({ options: { a: 1, b: 2 } })).toEqual(asks({ options: { b: 2, a: 1 } }));
});

describe('the record', () => {
  const recordIn = (text: string, uid = 'u1') =>
    startedOf({ ...object, metadata: { name: 'web', uid, annotations: { [startedTunnel]: text } } });
  test('is read back', () => expect(recordIn(JSON.stringify(asks()))).toEqual(asks()));
  test('of another resource, copied with its manifest, is none', () =>
    expect(recordIn(JSON.stringify(asks()), 'u2')).toBeUndefined());
  test.each(['', '{', 'null', '{"uid":"u1"}'])('that is garbled is none: %j', (text) =>
    expect(recordIn(text)).toBeUndefined(),
  );
});

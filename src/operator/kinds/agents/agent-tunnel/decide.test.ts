import { describe, expect, test } from '@jest/globals';
import type { Tunnel } from '../../../agent-client/schemas.ts';
import { annotation } from '../../../reconcile/resource/annotations.ts';
import { withoutBulk } from '../../../reconcile/resource/bulk.ts';
import { decide, following, type TunnelAction } from './decide.ts';
import { lookOf } from './look.ts';
import { definitionOf, recordOf, type Started, startedOf, wanted } from './started.ts';

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
const asking = (fields: object = {}) => {
  const given = { ...spec, ...fields };
  return { spec: given, wanted: wanted(object, given, 'web', 'http://agent') };
};
const asks = (fields: object = {}): Started => asking(fields).wanted;

describe('decide', () => {
  const cases: readonly [
    why: string,
    asked: ReturnType<typeof asking>,
    started: Started | undefined,
    running: Tunnel | undefined,
    TunnelAction,
  ][] = [
    ['nothing runs', asking(), undefined, undefined, { kind: 'start' }],
    ['what we started vanished', asking(), asks(), undefined, { kind: 'start' }],
    ['what we started runs', asking({ inspect: true }), asks({ inspect: true }), shows(), { kind: 'none' }],
    ['inspect was not asked for', asking(), asks(), shows({ inspect: false }), { kind: 'none' }],
    ['another addr', asking({ addr: '1' }), asks(), shows(), { kind: 'replace', fields: ['addr'] }],
    [
      'everything is new',
      asking({ proto: 'tcp', addr: '1', inspect: false, options }),
      asks(),
      shows(),
      { kind: 'replace', fields: ['proto', 'addr', 'inspect', 'options'] },
    ],
    ['options, which are not shown', asking({ options }), asks(), shows(), { kind: 'replace', fields: ['options'] }],
    ['the agent writes addr in its way', asking(), asks(), shows({ addr: 'http://localhost:8080' }), { kind: 'none' }],
    ['with a slash', asking(), asks(), shows({ addr: 'http://LOCALHOST:8080/' }), { kind: 'none' }],
    [
      'and not with a path',
      asking(),
      asks(),
      shows({ addr: 'http://localhost:8080/a' }),
      { kind: 'conflict', field: 'addr' },
    ],
    [
      'the agent showed it otherwise when it started it',
      asking(),
      { ...asks(), shown: lookOf({ proto: 'http', addr: 'upstream/8080' }) },
      shows({ addr: 'upstream/8080' }),
      { kind: 'none' },
    ],
    [
      'one that was asked for before, and looks like this one, may be what runs',
      asking({ options }),
      following(asks({ options }), asks()),
      shows(),
      { kind: 'replace', fields: [] },
    ],
    [
      'one that was asked for before runs',
      asking({ addr: '1' }),
      following(asks({ addr: '1' }), asks()),
      shows(),
      { kind: 'replace', fields: [] },
    ],
    [
      'one that was asked for before, and looks otherwise, does not run',
      asking({ addr: '1' }),
      following(asks({ addr: '1' }), asks()),
      shows({ addr: '1' }),
      { kind: 'none' },
    ],
    ["another's, as asked", asking({ options }), undefined, shows({ addr: 'localhost:8080' }), { kind: 'adopt' }],
    ["another's, of another proto", asking(), undefined, shows({}, 'tcp'), { kind: 'conflict', field: 'proto' }],
    [
      "another's, with another option",
      asking({ options }),
      undefined,
      shows({ subdomain: 'other' }),
      { kind: 'conflict', field: 'subdomain' },
    ],
    ["another's took the place of ours", asking(), asks(), shows({ addr: '1' }), { kind: 'conflict', field: 'addr' }],
    [
      "another's took the place of ours, as is asked now",
      asking({ addr: '1' }),
      asks(),
      shows({ addr: '1' }),
      { kind: 'adopt' },
    ],
  ];
  test.each(cases)('%s', (_why, asked, started, running, expected) => {
    expect(decide({ ...asked, started, isAnswered: false, running })).toEqual(expected);
  });
});

test.each([
  ['which was answered, runs', shows(), { kind: 'none' }],
  ['which was answered, gave way to one that came late', shows({ addr: '1' }), { kind: 'replace', fields: [] }],
])('a start after others that were not answered, %s', (_, running, expected) => {
  const before = [lookOf({ proto: 'http', addr: '1' }), lookOf({ proto: 'http', addr: '8080' })];
  expect(decide({ ...asking(), started: { ...asks(), before }, isAnswered: true, running })).toEqual(expected);
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
    startedOf({ ...object, metadata: { name: 'web', uid, annotations: { [annotation.startedTunnel]: text } } });
  test('is read back', () => expect(recordIn(JSON.stringify(asks()))).toEqual(asks()));
  test('of another resource, copied with its manifest, is none', () =>
    expect(recordIn(JSON.stringify(asks()), 'u2')).toBeUndefined());
  test.each(['', '{', 'null', '{"uid":"u1"}'])('that is garbled is none: %j', (text) =>
    expect(recordIn(text)).toBeUndefined(),
  );

  test.each(['never', '2030-01-01', `2030-01-01T00:00:00.${'0'.repeat(2_000)}Z`])(
    'of which somebody made the moment what no moment is, has none: no status could be written of it: %.20s',
    (startedAt) => expect(recordIn(JSON.stringify({ ...asks(), startedAt }))).toEqual(asks()),
  );

  test('of the longest definition has room in a cache', () => {
    const [name, url] = ['"'.repeat(256), `http://agent/${'\\'.repeat(2_035)}`];
    const long = { ...spec, proto: '"'.repeat(63), addr: '"'.repeat(2_048), options: { text: '"'.repeat(60_000) } };
    const starts = Array.from({ length: 12 }, (_, n) => wanted(object, { ...long, addr: `${n}` }, name, url));
    const last = starts.reduce((before, next) => following(next, before));
    const metadata = { name: 'web', uid: 'u1', annotations: recordOf(last) as Record<string, string> };
    expect(startedOf(withoutBulk({ ...object, metadata }))).toEqual(last);
  });

  const before = { uid: 'u1', url: 'http://agent', name: 'web', options: '44136fa355b3678a', generation: 3 };
  const { shown, ...earlier } = {
    ...{ ...before, proto: 'http', addr: '8080' },
    shown: { proto: 'http', addr: 'upstream/8080', inspect: true },
  };
  test.each([
    ['as it was asked', earlier, shows()],
    ['as the agent put it', { ...earlier, shown }, shows({ addr: 'upstream/8080' })],
  ])('of an earlier version is understood: %s', (_, record, running) => {
    const started = recordIn(JSON.stringify(record));
    expect(decide({ ...asking(), started, isAnswered: true, running })).toEqual({ kind: 'none' });
    expect(decide({ ...asking({ addr: '1' }), started, isAnswered: true, running })).toEqual({
      kind: 'replace',
      fields: ['addr'],
    });
    expect(decide({ ...asking({ options }), started, isAnswered: true, running })).toEqual({
      kind: 'replace',
      fields: ['options'],
    });
    expect(decide({ ...asking(), started, isAnswered: true, running: shows({ addr: '2' }) })).toMatchObject({
      kind: 'conflict',
    });
  });
});

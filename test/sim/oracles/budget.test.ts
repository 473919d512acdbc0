import { beforeEach, describe, expect, test } from '@jest/globals';
import { budget } from './budget.ts';
import { FakeWorld } from './witness/witness.fixture.ts';

let world: FakeWorld;

beforeEach(() => {
  world = new FakeWorld({ installations: [{ name: 'op', settings: { requestsPerMinute: '10' } }] });
  world.judge(budget);
});

async function look(times: number, everyMs: number, more: object = {}) {
  for (let n = 0; n < times; n += 1) {
    await world.call({ method: 'GET', path: '/bot_users', ...more });
    await world.pass(everyMs);
  }
}

test('as many as it may, minute by minute', async () => {
  await look(10, 10);
  await world.pass(60_000);
  await look(40, 6_001);
  expect(world.said).toEqual([]);
});

test('one more in a minute', async () => {
  await look(11, 5_500);
  const message = 'budget: op sent 11 and more requests to cloud in a minute with one key, and may send 10';
  expect(world.said).toEqual([message]);
});

test('a restart buys nothing (B9)', async () => {
  await look(6, 10);
  await look(6, 10, { by: 'op-0.1' });
  expect(world.said).toHaveLength(1);
});

test.each([
  [20, 'kube-403', 60_000, []],
  [21, 'kube-403', 60_000, [expect.stringContaining('may send 20')]],
  [11, 'kube-403', 1_000, [expect.stringContaining('may send 10')]],
  [20, 'kube-restored', 100_000, []],
  [11, 'kube-restored', 80_000, [expect.stringContaining('may send 10')]],
])(
  'what was on no record in the last minute or two may be sent once more: %i, %s',
  async (times, name, forMs, said) => {
    const trouble = { at: 0, do: 'trouble', name, forMs, with: { of: 'leases' } } as const;
    world = new FakeWorld({ installations: [{ name: 'op', settings: { requestsPerMinute: '10' } }], acts: [trouble] });
    world.judge(budget);
    await world.pass(150_000);
    await look(times, 10);
    expect(world.said).toEqual(said);
  },
);

test.each([
  [20, 'b', 10, []],
  [21, 'b', 10, [expect.stringContaining('may send 20')]],
  [11, 'a', 10, [expect.stringContaining('may send 10')]],
  [20, 'b', 120, [expect.stringContaining('may send 10')]],
])(
  'who begins with other namespaces to watch has another budget: %i, %s, after %i s',
  async (times, next, after, said) => {
    const settings = { requestsPerMinute: '10', watchNamespaces: 'a' };
    world = new FakeWorld({ installations: [{ name: 'op', settings }] });
    world.judge(budget);
    await world.pass(200_000);
    world.begin('op-0.1', { ...settings, watchNamespaces: next });
    await world.pass(after * 1_000);
    await look(times, 10);
    expect(world.said).toEqual(said);
  },
);

test('people and other installations have their own', async () => {
  await look(9, 10);
  await look(9, 10, { by: 'person' });
  await look(9, 10, { key: 'other' });
  expect(world.said).toHaveLength(1);
  expect(world.said[0]).toContain('may send 0');
});

test('what was long on its way says nothing', async () => {
  await look(20, 0, { sentAt: -5_000 });
  expect(world.said).toEqual([]);
});

test('a CloudAccount has what it says, and edits of that count from then on', async () => {
  await world.data('Secret', 'key', { key: 'b-key' });
  const spec = { apiKeySecretRef: { name: 'key', key: 'key' } };
  await world.write('CloudAccount', 'acct', { spec: { ...spec, requestsPerMinute: 12 } });
  await look(12, 10, { key: 'b-key' });
  expect(world.said).toEqual([]);
  await world.write('CloudAccount', 'acct', { spec: { ...spec, requestsPerMinute: 5 } });
  await world.pass(120_000);
  await look(6, 10, { key: 'b-key' });
  expect(world.said).toHaveLength(1);
});

describe('two accounts of one key', () => {
  const spec = { apiKeySecretRef: { name: 'key', key: 'key' } };
  const says = (name: string, requestsPerMinute: number, more: object = {}) =>
    world.write('CloudAccount', name, { ...more, spec: { ...spec, requestsPerMinute } });
  const send = (times: number) => look(times, 10, { key: 'b-key' });

  beforeEach(async () => {
    await world.data('Secret', 'key', { key: 'b-key' });
    await says('one', 7);
    await says('two', 12);
    await world.pass(120_000);
  });

  test('have what the operator says together', async () => {
    await send(10);
    expect(world.said).toEqual([]);
    await send(1);
    expect(world.said[0]).toContain('may send 10');
  });

  test('have the higher of both while the one comes or goes', async () => {
    await world.remove('CloudAccount', 'one');
    await world.pass(30_000);
    await send(12);
    await world.pass(50_000);
    await says('one', 7);
    await world.pass(30_000);
    await send(12);
    expect(world.said).toEqual([]);
    await world.pass(90_000);
    await send(11);
    expect(world.said[0]).toContain('may send 10');
  });

  test('are one where the other is of a namespace that is not watched', async () => {
    world = new FakeWorld({
      installations: [{ name: 'op', settings: { requestsPerMinute: '10', watchNamespaces: 'a' } }],
    });
    world.judge(budget);
    for (const namespace of ['a', 'b']) await world.data('Secret', 'key', { key: 'b-key' }, namespace);
    for (const namespace of ['a', 'b']) await says('one', 12, { namespace });
    await world.pass(120_000);
    await send(12);
    expect(world.said).toEqual([]);
  });
});

test('a process that was frozen goes by what it last heard of', async () => {
  const account = async () => {
    await world.data('Secret', 'key', { key: 'b-key' });
    const apiKeySecretRef = { name: 'key', key: 'key' };
    await world.write('CloudAccount', 'acct', { spec: { apiKeySecretRef, requestsPerMinute: 12 } });
    await world.data('Secret', 'key', { key: 'c-key' });
    await world.pass(100_000);
    await look(1, 10, { key: 'b-key' });
  };
  await account();
  expect(world.said).toHaveLength(1);
  world = new FakeWorld({ acts: [{ at: 0, do: 'freeze', installation: 'op', forMs: 100_000 }] });
  world.judge(budget);
  await account();
  expect(world.said).toEqual([]);
});

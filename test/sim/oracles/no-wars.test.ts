import { beforeEach, expect, test } from '@jest/globals';
import { noWars } from './no-wars.ts';
import { FakeWorld, madeBotUser, operator } from './witness/witness.fixture.ts';

let world: FakeWorld;

beforeEach(() => {
  world = new FakeWorld();
  world.judge(noWars);
});

async function times(count: number, what: (n: number) => Promise<unknown>) {
  for (let n = 0; n < count; n += 1) {
    await what(n);
    await world.pass(60_000);
  }
}

const rename = (id: string) => (n: number) =>
  world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name: `n${n}` } });

test('as many changes as people ask for, and some more', async () => {
  const id = await madeBotUser(world);
  await times(20, async (n) => {
    await world.write('BotUser', 'bot', { spec: { name: `n${n}` } });
    await rename(id)(n);
  });
  await world.pass(3_600_000);
  await times(5, rename(id));
  expect(world.said).toEqual([]);
});

test('people who change it behind the operator’s back', async () => {
  const id = await madeBotUser(world);
  await times(20, async (n) => {
    await world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name: 'theirs' }, by: 'person' });
    await rename(id)(n);
  });
  expect(world.said).toEqual([]);
});

test('a PATCH war', async () => {
  const id = await madeBotUser(world);
  await world.pass(3_600_000);
  await times(20, rename(id));
  expect(world.said).toEqual([expect.stringMatching(/no-wars: bot_0+1 of cloud\/main is changed more than 6 times/)]);
});

test('a PUT war (O10)', async () => {
  const spec = { edgeID: 'edghts_a', routeID: 'edghtsrt_a', compression: {} };
  await world.write('HttpsRouteModules', 'r', { spec });
  await world.pass(3_700_000);
  const path = '/edges/https/edghts_a/routes/edghtsrt_a/compression';
  await times(20, (n) => world.call({ method: 'PUT', path, body: { enabled: n % 2 === 0 } }));
  expect(world.said).toHaveLength(1);
});

test('a resource that is made over and over (K1)', async () => {
  await times(4, () => madeBotUser(world));
  expect(world.said).toEqual([expect.stringContaining('BotUser a/bot: more than 2 objects')]);
});

test('what people take away again and again', async () => {
  await times(5, async () => {
    const id = await madeBotUser(world);
    await world.call({ method: 'DELETE', path: `/bot_users/${id}`, by: 'person' });
  });
  expect(world.said).toEqual([]);
});

test('what comes later than --create-settle, or is shown later, is made again', async () => {
  const lag = { do: 'trouble', name: 'lagging-lists', forMs: 600_000, with: { lagMs: 50_000 } } as const;
  for (const [lateMs, acts] of [
    [70_000, []],
    [20_000, [{ at: 0, ...lag }]],
  ] as const) {
    world = new FakeWorld({ acts });
    world.judge(noWars);
    await world.pass(100_000);
    await times(3, () => madeBotUser(world, 'bot', { sentAt: world.scheduler.now - lateMs }));
    await madeBotUser(world);
    expect(world.said).toEqual([]);
  }
});

test('what comes late, and in time, is found', async () => {
  await world.pass(100_000);
  await times(4, () => madeBotUser(world, 'bot', { sentAt: world.scheduler.now - 20_000 }));
  expect(world.said).toHaveLength(1);
});

test.each([
  ['while no operator was to run', [{ at: 10_000, do: 'stop', installation: 'op' }] as const, 0],
  ['beside an operator', [], 1],
])('what lost the mark of its create %s is made again', async (_, acts, times) => {
  world = new FakeWorld({ acts });
  world.judge(noWars);
  const marked = (mark: string | null) => ({ annotations: { 'edge-operator.dev/create-intent': mark } });
  await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
  await world.write('BotUser', 'bot', { ...marked('{}'), by: operator });
  await world.make('bot_users', { name: 'bot', active: true }, { arrives: false });
  await world.pass(20_000);
  await world.write('BotUser', 'bot', marked(null));
  await world.pass(1_000);
  for (let n = 0; n < 2; n += 1) await madeBotUser(world);
  expect(world.said).toHaveLength(times);
});

test.each([
  ['is made again and again while the account is shown as empty', 600_000, 0],
  ['is found once it is shown', 1_000, 1],
])('what creates without an answer made %s', async (_, forMs, times) => {
  world = new FakeWorld({ acts: [{ at: 0, do: 'trouble', name: 'empty-account', forMs }] });
  world.judge(noWars);
  await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
  for (let n = 0; n < 4; n += 1) {
    await world.pass(70_000);
    await world.make('bot_users', { name: 'bot', active: true }, { arrives: false });
  }
  expect(world.said).toHaveLength(times);
});

test('resources of one content, each with its own', async () => {
  for (const name of ['one', 'two', 'three', 'four']) await madeBotUser(world, name, { spec: { name: 'same' } });
  expect(world.said).toEqual([]);
});

test('what is refused is tried six times an hour', async () => {
  const spec = { edgeID: 'edgtls_a', policy: {} };
  await world.write('TlsEdgeTrafficPolicy', 't', { spec });
  await world.pass(3_700_000);
  const put = () =>
    world.call({
      ...{ method: 'PUT', path: '/edges/tls/edgtls_a/traffic_policy', status: 400 },
      body: { enabled: true, value: '{}' },
    });
  for (let n = 0; n < 12; n += 1) {
    await put();
    await world.pass(600_000);
  }
  expect(world.said).toEqual([]);
  await times(10, put);
  expect(world.said).toEqual([expect.stringContaining('is refused more than 9 times in an hour')]);
});

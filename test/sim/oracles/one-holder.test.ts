import { beforeEach, expect, test } from '@jest/globals';
import { oneHolder } from './one-holder.ts';
import { FakeWorld } from './witness/witness.fixture.ts';

let world: FakeWorld;
const [one, two] = ['op-0.0', 'op-1.0'];
const settings = { leaderElect: 'true', shards: '2' };

beforeEach(() => {
  world = new FakeWorld({ installations: [{ name: 'op', replicas: 2, settings }] });
  world.judge(oneHolder);
});

const use = (by: string, key?: string) =>
  world.call({ method: 'GET', path: '/bot_users', by, ...(key === undefined ? {} : { key }) });

test('each has a key of its own, for as long as it likes', async () => {
  await world.lease('first', one, 'edge-operator-0');
  await world.lease('second', two, 'edge-operator-1');
  await use(one, 'a');
  await use(two, 'b');
  await world.pass(60_000);
  await use(one, 'a');
  expect(world.said).toEqual([]);
});

test('who has taken a Lease since may go on with the key', async () => {
  await world.lease('first', one, 'edge-operator-0');
  await use(one);
  await world.pass(20_000);
  await world.lease('second', two, 'edge-operator-0');
  await use(two);
  expect(world.said).toEqual([]);
});

test('two at the same time', async () => {
  await world.lease('first', one, 'edge-operator-0');
  await world.lease('second', two, 'edge-operator-1');
  await world.pass(5_000);
  await use(one);
  await world.pass(1_000);
  await use(two);
  expect(world.said).toEqual([expect.stringContaining('op-1.0 uses a key at cloud that op-0.0 used 1000 ms before')]);
});

test.each([
  ['before the other used it for the last time', 0, 1],
  ['since', 3_000, 0],
])('who has it as the key of the default account from a moment %s', async (_, afterMs, times) => {
  await world.lease('first', one, 'edge-operator-0');
  await world.lease('second', two, 'edge-operator-1');
  const rotate = () => world.begin(two, settings, 'a', true);
  if (afterMs === 0) rotate();
  await world.pass(5_000);
  await use(one, 'a');
  await world.pass(afterMs);
  if (afterMs > 0) rotate();
  await world.pass(1_000);
  await use(two, 'a');
  expect(world.said).toHaveLength(times);
});

test('who asks for a Lease has not taken it', async () => {
  await world.lease('first', one, 'edge-operator-0');
  await use(one);
  await world.pass(1_000);
  await world.lease('first', two, 'edge-operator-0');
  await use(two);
  expect(world.said).toHaveLength(1);
});

import { beforeEach, expect, test } from '@jest/globals';
import { singleLeader } from './single-leader.ts';
import { FakeWorld } from './witness/witness.fixture.ts';

let world: FakeWorld;
const [one, two] = ['op-0.0', 'op-1.0'];

function begin(story: ConstructorParameters<typeof FakeWorld>[0] = {}) {
  world = new FakeWorld({ installations: [{ name: 'op', replicas: 2, settings: { leaderElect: 'true' } }], ...story });
  world.judge(singleLeader);
}

beforeEach(() => begin());

const create = (by: string, more: object = {}) => world.make('bot_users', { name: 'bot' }, { by, ...more });

test('the leader may, for as long as its Lease holds, and who takes over from then on', async () => {
  await world.lease('first', one);
  await create(one);
  await world.pass(14_000);
  await world.lease('first', one);
  await world.pass(14_000);
  await create(one);
  await world.lease('second', two);
  await create(two);
  expect(world.said).toEqual([]);
});

test('a call that was sent in time may arrive when another leads', async () => {
  await world.lease('first', one);
  await world.pass(20_000);
  await world.lease('second', two);
  await create(one, { sentAt: 10_000 });
  expect(world.said).toEqual([]);
});

test('reads and installations without an election are not asked', async () => {
  await world.call({ method: 'GET', path: '/bot_users', by: two });
  world = new FakeWorld();
  world.judge(singleLeader);
  await create(one);
  expect(world.said).toEqual([]);
});

test('nor what was sent before there were shards, which are shared out by an election', async () => {
  begin({ installations: [{ name: 'op' }] });
  await world.pass(1_000);
  const sentAt = world.scheduler.now;
  await world.pass(1_000);
  world.begin('op-0.1', { shards: '2' });
  await create(one, { sentAt });
  expect(world.said).toEqual([]);
  await create('op-0.1');
  expect(world.said).toHaveLength(1);
});

test('after the Lease ran out', async () => {
  await world.lease('first', one);
  await world.pass(15_001);
  await create(one);
  expect(world.said).toEqual([
    expect.stringContaining('POST cloud /bot_users by op-0.0, sent while first held the Lease'),
  ]);
});

test('while another holds it, to the cloud and to Kubernetes', async () => {
  await world.lease('first', one);
  await world.lease('second', two);
  await create(one);
  await world.write('BotUser', 'bot', { by: one });
  expect(world.said).toHaveLength(2);
});

test('after it was given away, and without ever having asked for it', async () => {
  await world.lease('first', one);
  await world.lease('', one);
  await create(one);
  await create(two);
  expect(world.said).toHaveLength(2);
});

test('what a frozen process had in hand goes out when it thaws, and nothing after', async () => {
  begin({ acts: [{ at: 1_000, do: 'freeze', installation: 'op', forMs: 60_000 }] });
  await world.lease('first', one);
  await world.pass(61_000);
  await create(one);
  expect(world.said).toEqual([]);
  await world.pass(2);
  await create(one);
  expect(world.said).toHaveLength(1);
});

import { beforeEach, expect, test } from '@jest/globals';
import { sameAsFresh } from './same-as-fresh.ts';
import { FakeWorld, madeBotUser, operator, unready } from './witness.fixture.ts';

let world: FakeWorld;
let judge: ReturnType<FakeWorld['judge']>;

beforeEach(async () => {
  world = new FakeWorld();
  judge = world.judge(sameAsFresh);
  await world.pass(1_000);
});

async function spoke() {
  await judge.atRest?.();
  return world.said.map((line) => line.replace('same-as-fresh: ', ''));
}

const rename = (id: string, name: string) =>
  world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name }, by: 'person' });

test('what is as it would be from the start', async () => {
  await madeBotUser(world);
  expect(await spoke()).toEqual([]);
});

test('a status that would be another from the start', async () => {
  await madeBotUser(world);
  await world.write('BotUser', 'bot', { status: unready(1, 'Unreachable', 'Reconciling'), by: operator });
  expect(await spoke()).toEqual([
    'BotUser a/bot is {"Ready":"False Unreachable"}; from the start it would be {"Ready":"True Available"}',
  ]);
});

test('content that would be another from the start', async () => {
  const id = await madeBotUser(world);
  await rename(id, 'other');
  expect(await spoke()).toEqual([
    'BotUser a/bot has {"active":true,"name":"other"}; from the start it would be {"active":true,"name":"bot"}',
  ]);
});

test('what was imported may be as it was before', async () => {
  const id = await madeBotUser(world);
  await rename(id, 'other');
  await world.write('BotUser', 'bot', { annotations: { 'edge-operator.dev/external-id': null } });
  await world.write('BotUser', 'bot', { annotations: { 'edge-operator.dev/external-id': id } });
  expect(await spoke()).toEqual([]);
});

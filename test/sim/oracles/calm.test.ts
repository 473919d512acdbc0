import { beforeEach, describe, expect, test } from '@jest/globals';
import { calm } from './calm.ts';
import { available, FakeWorld, madeBotUser, operator, unready } from './witness/witness.fixture.ts';

const policyPath = '/edges/tls/edgtls_a/traffic_policy';

let world: FakeWorld;
let judge: ReturnType<FakeWorld['judge']>;

describe('calm', () => {
  beforeEach(async () => {
    world = new FakeWorld();
    judge = world.judge(calm);
    await madeBotUser(world);
    await judge.atRest?.();
  });

  test('reads, Leases, people, and what is refused now and then', async () => {
    await world.call({ method: 'GET', path: '/bot_users' });
    await world.lease('first', operator);
    await world.write('BotUser', 'bot', { spec: { name: 'x' } });
    await world.make('bot_users', { name: 'y' }, { by: 'person' });
    for (let n = 0; n < 12; n += 1) {
      await world.call({ method: 'PUT', path: policyPath, body: { enabled: true }, status: 400 });
      await world.pass(600_000);
    }
    expect(world.said).toEqual([]);
  });

  test('a write', async () => {
    await world.write('BotUser', 'bot', { annotations: { x: 'y' }, by: operator });
    expect(world.said).toEqual(['calm: op-0.0 writes BotUser a/bot']);
  });

  test.each([
    ['once', 1, []],
    ['again', 2, ['calm: op-0.0 writes BotUser a/bot']],
  ])('a new mark of a key %s after a restore', async (_, times, said) => {
    world = new FakeWorld({ acts: [{ at: 0, do: 'trouble', name: 'kube-restored', forMs: 1_000 }] });
    judge = world.judge(calm);
    await madeBotUser(world);
    await judge.atRest?.();
    for (let n = 0; n < times; n += 1)
      await world.write('BotUser', 'bot', { annotations: { 'edge-operator.dev/key-mark': `m-${n}` }, by: operator });
    expect(world.said).toEqual(said);
  });

  test.each([
    ['that a policy took away', ['kube-prunes'], [{ completedAt: 'then' }], 0],
    ['that nobody took away', [], [{ completedAt: 'then' }], 1],
    ['that a policy took away, and another', ['kube-prunes'], [{ completedAt: 'then' }, { completedAt: 'now' }], 1],
    ['and another verdict', ['kube-prunes'], [{ ...unready(1, 'OutcomeUnknown', 'Stalled'), completedAt: 'then' }], 1],
  ])('what is put back of a finished replay %s', async (_, troubles, statuses, times) => {
    world = new FakeWorld({ acts: troubles.map((name) => ({ at: 0, do: 'trouble', name, forMs: 1_000 })) });
    judge = world.judge(calm);
    await world.write('RequestReplay', 'r', { spec: {}, status: available(1), by: operator });
    await judge.atRest?.();
    for (const status of statuses) {
      await world.pass(1_000);
      await world.write('RequestReplay', 'r', { status: { ...available(1), ...status }, by: operator });
    }
    expect(world.said).toHaveLength(times);
  });

  test('a change', async () => {
    await world.make('bot_users', { name: 'y' });
    expect(world.said).toEqual(['calm: POST /bot_users by op-0.0 (201)']);
  });

  test('what is refused all the time', async () => {
    for (let n = 0; n < 8; n += 1) await world.call({ method: 'PUT', path: policyPath, body: {}, status: 400 });
    expect(world.said).toEqual([`calm: PUT ${policyPath} by op-0.0 (400)`]);
  });
});

import { beforeEach, describe, expect, test } from '@jest/globals';
import { secondKey } from '../core/story.ts';
import { truth } from './truth.ts';
import { available, condition, FakeWorld, madeBotUser, operator, unready } from './witness/witness.fixture.ts';

let world: FakeWorld;
let judge: ReturnType<FakeWorld['judge']>;

function begin(story: ConstructorParameters<typeof FakeWorld>[0] = {}) {
  world = new FakeWorld(story);
  judge = world.judge(truth);
}

beforeEach(async () => {
  begin();
  await world.pass(60_000);
});

const spoke = () => world.said.map((line) => line.replace(/^truth: /, ''));

describe('the form of a status', () => {
  const write = (status: object) => world.write('BotUser', 'bot', { status: { ...status }, by: operator });

  beforeEach(() => world.write('BotUser', 'bot', { spec: { name: 'bot' } }));

  test('as kstatus has it', async () => {
    await write(unready(1, 'Unreachable', 'Reconciling'));
    await write(unready(1, 'Rejected', 'Stalled'));
    await write(available(1));
    expect(spoke()).toEqual([]);
  });

  const ready = condition('Ready', 'True', 'Available', 1);
  const stalled = condition('Stalled', 'True', 'Available', 1);
  test.each([
    ['is Ready and Stalled', [ready, stalled]],
    ['has a condition twice', [ready, ready]],
    ['has no condition Ready', [stalled]],
    [
      'has Reconciling or Stalled while it is not True',
      [
        { ...ready, status: 'False' },
        { ...stalled, status: 'False' },
      ],
    ],
    ['is neither Ready, Reconciling nor Stalled', [{ ...ready, status: 'False' }]],
    ['has a condition of another generation than its status', [{ ...ready, observedGeneration: 0 }]],
    ['has Ready since a time in the future', [{ ...ready, lastTransitionTime: '2030-01-01T01:00:00Z' }]],
    ['has Ready since yesterday', [{ ...ready, lastTransitionTime: 'yesterday' }]],
  ])('%s', async (what, conditions) => {
    await write({ observedGeneration: 1, conditions });
    expect(spoke()).toContain(`BotUser a/bot ${what}`);
  });

  test('a time of a clock that was set back on the way', async () => {
    begin({ acts: [{ at: 0, do: 'trouble', name: 'clock-jumps', forMs: 10_000 }] });
    const ahead = { ...condition('Ready', 'True', 'Available', 1), lastTransitionTime: '2030-01-01T00:01:00Z' };
    await write({ observedGeneration: 1, conditions: [ahead] });
    expect(spoke()).toEqual([]);
  });

  test('a generation that there is not yet', async () => {
    await write(available(2));
    expect(spoke()).toContain('BotUser a/bot observed generation 2 of 1');
  });

  test.each([
    ['that was ahead', [], 0],
    ['that was ahead, in the cache of who has not heard of a restore', [available(1)], 0],
    ['that is ahead', undefined, 1],
  ])('a time that stands may be of a clock %s', async (_, between, times) => {
    const status = (message: string, lastTransitionTime: string) => ({
      observedGeneration: 1,
      conditions: [{ ...ready, message, lastTransitionTime }],
    });
    world.process(operator).skewMs = 3_600_000;
    await write(status('a', '2030-01-01T01:00:00Z'));
    world.process(operator).skewMs = 0;
    for (const each of between ?? []) await write(each);
    await write(status('b', between === undefined ? '2030-01-01T01:00:01Z' : '2030-01-01T01:00:00Z'));
    expect(spoke()).toHaveLength(times);
  });

  test('what people write is theirs', async () => {
    await world.write('BotUser', 'bot', { status: { observedGeneration: 7, conditions: [stalled] } });
    expect(spoke()).toEqual([]);
  });
});

describe('what a status says', () => {
  const quiet = () => world.pass(31_000);

  test('is true', async () => {
    await madeBotUser(world);
    await quiet();
    await judge.atRest?.();
    expect(spoke()).toEqual([]);
  });

  test('of a generation that waits for a poor account it is none until the end', async () => {
    begin({ installations: [{ name: 'op', settings: { requestsPerMinute: '5' } }] });
    await world.pass(60_000);
    await madeBotUser(world);
    await world.write('BotUser', 'bot', { spec: { name: 'other' } });
    await quiet();
    expect(spoke()).toEqual([]);
    await judge.atRest?.();
    expect(spoke()).toEqual([expect.stringContaining('but of generation 1, not 2')]);
  });

  test.each<[string, (id: string) => Promise<unknown>]>([
    [
      'is of generation',
      async () => {
        await world.write('BotUser', 'bot', { spec: { name: 'other' } });
        await world.pass(600_000);
      },
    ],
    ['differs in name', (id) => world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name: 'x' } })],
    ['is not in cloud/main', (id) => world.call({ method: 'DELETE', path: `/bot_users/${id}` })],
    [
      'status.uri is not true',
      (id) =>
        world.write('BotUser', 'bot', {
          status: available(1, { id, uri: 'x', createdAt: '2030-01-01T00:00:00Z' }),
          by: operator,
        }),
    ],
    ['its status has no id', () => world.write('BotUser', 'bot', { status: available(1), by: operator })],
  ])('is a lie at the next quiet moment: %s', async (what, how) => {
    await how(await madeBotUser(world));
    await quiet();
    expect(spoke()).toEqual([
      expect.stringContaining(what === 'is of generation' ? 'but of generation 1, not 2' : what),
    ]);
  });

  test.each([
    ['was', 'bot', 1],
    ['was not', 'x', 0],
  ])('that a value was not taken is a lie where it %s', async (_, name, times) => {
    const id = await madeBotUser(world);
    await world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name } });
    const message = 'the cloud accepted an update of the bot user but did not take spec.name: change the value';
    const conditions = [
      condition('Ready', 'False', 'Rejected', 1, message),
      condition('Stalled', 'True', 'Rejected', 1, message),
    ];
    await world.pass(1_000);
    await world.write('BotUser', 'bot', { status: { observedGeneration: 1, id, conditions }, by: operator });
    await quiet();
    expect(spoke()).toEqual(times === 0 ? [] : [expect.stringContaining('did not take spec.name')]);
  });

  test('drift is found out by the next check', async () => {
    const id = await madeBotUser(world);
    await world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name: 'x' }, by: 'person' });
    await quiet();
    await world.pass(600_000);
    await judge.atRest?.();
    expect(spoke()).toEqual([]);
    await world.pass(300_000);
    await judge.atEnd?.();
    expect(spoke()).toEqual([expect.stringContaining('differs in name')]);
  });

  test('nothing is asked while something is disturbed, and everything at rest', async () => {
    begin({ acts: [{ at: 1_000, do: 'trouble', name: 'watches-frozen', forMs: 60_000 }] });
    const id = await madeBotUser(world);
    await world.call({ method: 'DELETE', path: `/bot_users/${id}` });
    await quiet();
    expect(spoke()).toEqual([]);
    await world.pass(600_000);
    await judge.atRest?.();
    expect(spoke()).toHaveLength(1);
  });

  test('an account that the service does not know', async () => {
    await madeBotUser(world);
    world.begin('op-0.1', {}, 'no-key-CANARY-9');
    await quiet();
    expect(spoke()).toEqual([expect.stringContaining('cloud does not know the key that is used')]);
  });

  test('an object in another account', async () => {
    await madeBotUser(world);
    world.begin('op-0.1', {}, secondKey);
    await quiet();
    expect(spoke()).toEqual([expect.stringContaining('is not in cloud/second')]);
  });

  test('modules, by part', async () => {
    const spec = { edgeID: 'edghts_a', tlsTermination: { minVersion: '1.3' } };
    await world.write('HttpsEdgeModules', 'e', { spec });
    const put = (min_version: string) =>
      world.call({
        ...{ method: 'PUT', path: '/edges/https/edghts_a/tls_termination', body: { enabled: true, min_version } },
        answer: { enabled: true, min_version, terminate_at: 'edge' },
      });
    await put('1.3');
    const status = available(1, { tlsTermination: { applied: true, terminateAt: 'edge' } });
    await world.write('HttpsEdgeModules', 'e', { status, by: operator });
    await quiet();
    expect(spoke()).toEqual([]);
    await put('1.2');
    await world.write('HttpsEdgeModules', 'e', { status: available(1, { tlsTermination: {} }), by: operator });
    await quiet();
    expect(spoke()).toEqual([
      expect.stringContaining('tls_termination differs in min_version'),
      expect.stringContaining('status of tlsTermination: it is not applied'),
      expect.stringContaining('status of tlsTermination: terminateAt'),
    ]);
  });
});

test('a hash tells of no policy that was put after it was written', async () => {
  const path = '/edges/tls/edgtls_a/traffic_policy';
  const put = (name: string) =>
    world.call({ method: 'PUT', path, body: { enabled: true, value: JSON.stringify({ inbound: [{ name }] }) } });
  const policy = { inbound: [{ name: 'own' }] };
  await world.write('TlsEdgeTrafficPolicy', 't', { spec: { edgeID: 'edgtls_a', policy } });
  await put('own');
  await world.write('TlsEdgeTrafficPolicy', 't', {
    status: available(1, { appliedPolicyHash: 'a', ruleCount: 1 }),
    by: operator,
  });
  await world.pass(1_000);
  await put('another');
  await world.pass(31_000);
  world.said.length = 0;
  await put('own');
  await world.pass(31_000);
  await judge.atRest?.();
  expect(world.said).toEqual([]);
});

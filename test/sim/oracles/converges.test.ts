import { beforeEach, describe, expect, test } from '@jest/globals';
import { epochMs } from '../core/process.ts';
import { mainKey, secondKey } from '../core/story.ts';
import { ConvergingWorld } from './converges.fixture.ts';
import { condition, madeBotUser, operator, unready } from './witness/witness.fixture.ts';

const externalID = 'edge-operator.dev/external-id';
const policy = { edgeID: 'edgtls_a', policy: { inbound: [] } };
const policyPath = '/edges/tls/edgtls_a/traffic_policy';

let world: ConvergingWorld;

function begin(story: ConstructorParameters<typeof ConvergingWorld>[0] = {}) {
  world = new ConvergingWorld(story);
}

beforeEach(() => begin());

const spoke = () => world.spoke();
const say: ConvergingWorld['say'] = (...what) => world.say(...what);

test('what is Ready', async () => {
  await madeBotUser(world);
  expect(await spoke()).toEqual([]);
});

test('what nobody has to do with', async () => {
  begin({ installations: [{ name: 'op', settings: { watchNamespaces: 'b' } }] });
  await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
  expect(await spoke()).toEqual([]);
});

test.each([
  ['has no condition', {}],
  [
    'is Available of generation 0, not 1',
    { observedGeneration: 0, conditions: [condition('Ready', 'True', 'Available', 0)] },
  ],
  ['is not Ready: Creating, so it is', unready(1, 'Creating', 'Reconciling')],
  ['is not Ready: Rejected, so it is', unready(1, 'Rejected', 'Stalled')],
  ['is not Ready: Unreachable, so it is', unready(1, 'Unreachable', 'Reconciling')],
  ['is not Ready: Unauthorized, so it is', unready(1, 'Unauthorized', 'Stalled')],
  ['is not Ready: Conflict, so it is', unready(1, 'Conflict', 'Stalled')],
  ['is not Ready: ExternalNotFound, so it is', unready(1, 'ExternalNotFound', 'Stalled')],
  ['is not Ready: DependencyNotReady, so it is', unready(1, 'DependencyNotReady', 'Reconciling')],
  ['is not Ready: AmbiguousCreate, so it is', unready(1, 'AmbiguousCreate', 'Stalled')],
  ['is not Ready: DriftDetected, so it is', unready(1, 'DriftDetected', 'Stalled')],
  ['is not Ready: Paused, so it is', unready(1, 'Paused', 'Stalled')],
])('speaks where it %s, without a cause', async (what, status) => {
  await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
  await world.write('BotUser', 'bot', { status, by: operator });
  expect(await spoke()).toEqual([`BotUser a/bot ${what}`]);
});

test('speaks of what does not go', async () => {
  await madeBotUser(world);
  await world.write('BotUser', 'bot', { deleting: true });
  await world.write('BotUser', 'bot', { status: unready(2, 'Unreachable', 'Reconciling'), by: operator });
  expect(await spoke()).toEqual(['BotUser a/bot is not gone: Unreachable, so it is']);
});

/** By our own clock, so far ahead. */
const markCreate = (aheadMs: number, name = 'bot') => {
  const intent = { at: new Date(epochMs + world.scheduler.now + aheadMs).toISOString(), clock: 'own' };
  const annotations = { 'edge-operator.dev/create-intent': JSON.stringify(intent) };
  return world.write('BotUser', name, { annotations, by: operator });
};

test('speaks of a single candidate for a create that our own clock marked, and was right', async () => {
  await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
  await markCreate(0);
  await world.make('bot_users', { name: 'bot' });
  await say('BotUser', 'bot', 'AmbiguousCreate');
  expect(await spoke()).toHaveLength(1);
});

test.each([
  ['is silent where another installation has one', 'two', 'bot', []],
  ['speaks where its own one has one', 'op', 'bot', [expect.stringContaining('AmbiguousCreate')]],
  ['speaks where that is of other content', 'two', 'other', [expect.stringContaining('AmbiguousCreate')]],
])('AmbiguousCreate of one candidate for two creates: %s', async (_what, by, name, said) => {
  const begin = async (of: string, asked: string, installation: string) => {
    const annotations = { 'edge-operator.dev/installation': `edge-operator-${installation}-0123abcd` };
    await world.write('BotUser', of, { spec: { name: asked } });
    await world.write('BotUser', of, { annotations, by: operator });
  };
  await begin('bot', 'bot', 'op');
  await markCreate(0);
  await begin('rival', name, by);
  await markCreate(0, 'rival');
  await world.make('bot_users', { name: 'bot' });
  await say('BotUser', 'bot', 'AmbiguousCreate');
  await say('BotUser', 'rival', 'Unreachable', 'Reconciling');
  expect((await spoke()).filter((line) => line.startsWith('BotUser a/bot '))).toEqual(said);
});

test.each<[string, string, () => Promise<unknown>]>([
  ['Paused', 'it is', () => world.write('BotUser', 'bot', { annotations: { 'edge-operator.dev/paused': 'true' } })],
  [
    'ExternalNotFound',
    'it imports what is not there',
    () => world.write('BotUser', 'bot', { annotations: { [externalID]: 'bot_x' } }),
  ],
  [
    'Rejected',
    'the service refused the create',
    () => world.call({ method: 'POST', path: '/bot_users', body: { name: 'bot', active: true }, status: 400 }),
  ],
  [
    'Conflict',
    'another names the same',
    async () => {
      const id = await madeBotUser(world, 'other');
      await world.write('BotUser', 'bot', { annotations: { [externalID]: id } });
    },
  ],
  [
    'AmbiguousCreate',
    'there are two of its content that are nobody’s',
    async () => {
      for (let n = 0; n < 2; n += 1) await world.make('bot_users', { name: 'bot' }, { by: 'person' });
    },
  ],
  [
    'AmbiguousCreate',
    'what is there is older than a create that our own clock marked',
    async () => {
      await world.make('bot_users', { name: 'bot' }, { by: 'person' });
      await world.pass(1_000);
      await markCreate(0);
    },
  ],
  [
    'AmbiguousCreate',
    'what is there is older than such a create, and named by who forged a record',
    async () => {
      const id = await world.make('bot_users', { name: 'bot' }, { by: 'person' });
      await world.pass(1_000);
      await markCreate(0);
      const annotations = { [externalID]: id, 'edge-operator.dev/created-id': id };
      await world.write('BotUser', 'forged', { spec: { name: 'forged' }, annotations });
      await say('BotUser', 'forged', 'Rejected');
    },
  ],
  [
    'AmbiguousCreate',
    'what is there is younger than the create, but our own clock, which marked it, was ahead',
    async () => {
      await markCreate(10_000);
      await world.make('bot_users', { name: 'bot' });
    },
  ],
  [
    'AmbiguousCreate',
    'our own clock was right when it marked the create, and that of who looks is behind',
    async () => {
      await markCreate(0);
      await world.make('bot_users', { name: 'bot' });
      world.process(operator).skewMs = -10_000;
    },
  ],
  ['Unauthorized', 'the service does not know the key', async () => world.begin('op-0.1', {}, 'no-key-CANARY-9')],
  ['Unreachable', 'nobody is at the address', async () => world.begin('op-0.1', { apiUrl: 'http://nowhere.test' })],
])('is silent of %s where %s', async (reason, _, cause) => {
  await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
  await cause();
  await say('BotUser', 'bot', reason);
  expect(await spoke()).toEqual([]);
});

describe('Conflict, of what another installation manages', () => {
  const conflict = 'BotUser a/bot is not Ready: Conflict, so it is';
  const annotations = { 'edge-operator.dev/installation': 'edge-operator-two-679d1bcf' };
  const ownership = { installation: 'edge-operator-two-679d1bcf' };
  const recorded = { status: unready(1, 'Unreachable', 'Reconciling', { ownership }) };
  test.each([
    ['is true where that one served it for a while', 'a,b', 'b', { annotations }, []],
    ['is true where that one only looked at it for a while', 'a,b', 'b', recorded, []],
    ['is not while it does', 'a,b', 'a,b', { annotations }, [conflict]],
    ['is not where it never did', 'b', 'b', { annotations }, [conflict]],
    ['is not where it never did, by its status', 'b', 'b', recorded, [conflict]],
  ])('%s', async (_, before, now, record, said) => {
    const other = (watchNamespaces: string) => ({ name: 'two', settings: { watchNamespaces } });
    begin({
      installations: [{ name: 'op', settings: { watchNamespaces: 'a' } }, other(before)],
      acts: [{ at: 0, do: 'start', installation: 'two' }],
    });
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    await world.write('BotUser', 'bot', { ...record, by: 'two-0.0' });
    await world.pass(1_000);
    world.begin('two-0.1', other(now).settings);
    const fields = record === recorded ? { ownership } : {};
    await world.write('BotUser', 'bot', { status: unready(1, 'Conflict', 'Stalled', fields), by: operator });
    expect(await spoke()).toEqual(said);
  });

  const creating = 'BotUser a/bot is not Ready: Creating, so it is';
  const left = { status: unready(1, 'Creating', 'Reconciling', { ownership }) };
  test.each([
    ['is excused for a day where it had put right what was said there', [operator, 'two-0.0'], 1_000, 0, []],
    ['is not after that', [operator, 'two-0.0'], 24 * 3_600_000, 0, [creating]],
    ['is from when it said so of that one', [operator, 'two-0.0'], 20 * 3_600_000, 20 * 3_600_000, []],
    ['is not where it put nothing right', ['two-0.0', operator], 1_000, 0, [creating]],
    ['is not either where it says so later', ['two-0.0', operator], 1_000, 1_000, [creating]],
  ])('the trouble in which it left another one %s', async (_, saying, ms, later, said) => {
    begin({
      installations: [{ name: 'op' }, { name: 'two', settings: { watchNamespaces: 'a,b' } }],
      acts: [{ at: 0, do: 'start', installation: 'two' }],
    });
    for (const name of ['bot', 'other']) {
      await world.write('BotUser', name, { spec: { name }, annotations });
      await world.write('BotUser', name, { ...left, by: 'two-0.0' });
    }
    const contradicted = { status: unready(1, 'Conflict', 'Stalled', { ownership }) };
    for (const by of saying) await world.write('BotUser', 'other', { ...(by === operator ? contradicted : left), by });
    await world.pass(ms);
    if (later > 0) {
      await world.write('BotUser', 'bot', {
        status: unready(1, 'Creating', 'Reconciling', { ownership, url: 'x' }),
        by: 'two-0.0',
      });
      await world.pass(later);
    }
    world.begin('two-0.1', { watchNamespaces: 'b' });
    expect((await spoke()).filter((line) => line.includes('a/bot'))).toEqual(said);
  });
});

test.each([
  ['is true of who says so', 'narrow-0.1', []],
  ['is not of another, who would find it', operator, ['BotUser b/bot is not Ready: Unreachable, so it is']],
])('Unreachable, of what a wrong key made in the account of another installation, %s', async (_, by, said) => {
  begin({
    installations: [{ name: 'op' }, { name: 'narrow', apiKey: mainKey, settings: { watchNamespaces: 'b' } }],
    acts: [{ at: 0, do: 'start', installation: 'narrow' }],
  });
  await madeBotUser(world, 'bot', { namespace: 'b', by: 'narrow-0.0' });
  await world.pass(1_000);
  world.begin('narrow-0.1', { watchNamespaces: 'b' }, secondKey);
  await world.write('BotUser', 'bot', { namespace: 'b', status: unready(1, 'Unreachable', 'Reconciling'), by });
  expect(await spoke()).toEqual(said);
});

describe('Rejected, by a status that says where what it made is', () => {
  const rejected = (apiURL: string) =>
    world.write('BotUser', 'bot', {
      status: unready(1, 'Rejected', 'Stalled', { ownership: { how: 'Applied', apiURL } }),
      by: operator,
    });
  beforeEach(() => world.write('BotUser', 'bot', { spec: { name: 'bot' } }));

  test('is true where that is another service, though somebody wiped the annotations', async () => {
    await rejected('http://other-cloud.sim');
    expect(await spoke()).toEqual([]);
  });

  test('is not where it is the same', async () => {
    await rejected('http://cloud.sim');
    expect(await spoke()).toEqual(['BotUser a/bot is not Ready: Rejected, so it is']);
  });
});

test.each([
  ['another', 'bot_other', []],
  ['that', 'bot_own', ['BotUser a/bot is not Ready: Rejected, so it is']],
])('Rejected, of what imported one object, and names %s', async (_, named, said) => {
  await world.write('BotUser', 'bot', { spec: { name: 'bot' }, annotations: { [externalID]: named } });
  const status = unready(1, 'Rejected', 'Stalled', { ownership: { id: 'bot_own', how: 'Imported' } });
  await world.write('BotUser', 'bot', { status, by: operator });
  expect(await spoke()).toEqual(said);
});

test('Rejected is true of what is asked now, not of what was asked', async () => {
  await world.write('TlsEdgeTrafficPolicy', 't', { spec: policy });
  const put = (value: object) => ({
    ...{ method: 'PUT', path: policyPath, status: 400 },
    body: { enabled: true, value: JSON.stringify(value) },
  });
  await world.call(put({ inbound: [1] }));
  await say('TlsEdgeTrafficPolicy', 't', 'Rejected');
  expect(await spoke()).toHaveLength(1);
  begin();
  await world.write('TlsEdgeTrafficPolicy', 't', { spec: policy });
  await world.call(put(policy.policy));
  await say('TlsEdgeTrafficPolicy', 't', 'Rejected');
  expect(await spoke()).toEqual([]);
});

test('what depends on something waits for it', async () => {
  await world.write('BotUser', 'bot', { spec: { name: 'bot', accountRef: { name: 'acct' } } });
  await say('BotUser', 'bot', 'DependencyNotReady', 'Reconciling');
  await world.write('CloudAccount', 'acct', { spec: { apiKeySecretRef: { name: 'key', key: 'key' } } });
  await say('CloudAccount', 'acct', 'DependencyNotReady', 'Reconciling');
  expect(await spoke()).toEqual([]);
  await world.data('Secret', 'key', { key: secondKey });
  expect(await spoke()).toEqual([expect.stringContaining('CloudAccount a/acct is not Ready: DependencyNotReady')]);
});

test.each([
  ['waits for', { account: 'CloudAccount/acct' }, 0],
  ['waits for none but', { account: 'default' }, 1],
])('what is to go %s the account that holds what it made', async (_, ownership, times) => {
  await world.write('CloudAccount', 'acct', { spec: { apiKeySecretRef: { name: 'key', key: 'key' } } });
  await say('CloudAccount', 'acct', 'DependencyNotReady', 'Reconciling');
  await world.write('BotUser', 'bot', { spec: { name: 'bot' }, deleting: true });
  const status = { ...unready(1, 'DependencyNotReady', 'Reconciling'), ownership };
  await world.write('BotUser', 'bot', { status, by: operator });
  expect(await spoke()).toHaveLength(times);
});

test.each([
  ['has not any more', [], []],
  ['has', [secondKey], [expect.stringContaining('CloudAccount a/acct is not Ready: DependencyNotReady')]],
])('what depends on a Secret that a restored backup %s', async (_, keys, said) => {
  await world.write('CloudAccount', 'acct', { spec: { apiKeySecretRef: { name: 'key', key: 'key' } } });
  await say('CloudAccount', 'acct', 'DependencyNotReady', 'Reconciling');
  for (const key of keys) await world.data('Secret', 'key', { key });
  const backup = world.backup();
  await world.data('Secret', 'key', { key: secondKey });
  await world.restore(backup);
  expect(await spoke()).toEqual(said);
});

test('what the story expects has to be so', async () => {
  begin({ expect: { 'BotUser/a/bot': 'Conflict' } });
  await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
  await say('BotUser', 'bot', 'Conflict');
  expect(await spoke()).toEqual([]);
  await madeBotUser(world);
  expect(await spoke()).toEqual(['BotUser a/bot is Available, and cannot be but Conflict']);
});

test.each([
  ['ra_unknown', []],
  ['bot_gone', ['BotUser a/bot is ExternalNotFound, and cannot be but DriftDetected']],
])('what the story expects of an import cannot be where nobody could make it: %s', async (id, said) => {
  begin({ expect: { 'BotUser/a/bot': 'DriftDetected' } });
  await world.write('BotUser', 'bot', { spec: { name: 'bot' }, annotations: { [externalID]: id } });
  await say('BotUser', 'bot', 'ExternalNotFound');
  expect(await spoke()).toEqual(said);
});

import { beforeEach, describe, expect, test } from '@jest/globals';
import { epochMs } from '../core/process.ts';
import { mainKey, secondKey } from '../core/story.ts';
import { calm } from './calm.ts';
import { converges } from './converges.ts';
import { available, condition, FakeWorld, madeBotUser, operator, unready } from './witness/witness.fixture.ts';

const externalID = 'edge-operator.dev/external-id';
const policy = { edgeID: 'edgtls_a', policy: { inbound: [] } };
const policyPath = '/edges/tls/edgtls_a/traffic_policy';

let world: FakeWorld;
let judge: ReturnType<FakeWorld['judge']>;

describe('converges', () => {
  function begin(story: ConstructorParameters<typeof FakeWorld>[0] = {}) {
    world = new FakeWorld(story);
    judge = world.judge(converges);
  }

  beforeEach(() => begin());

  async function spoke() {
    await judge.atRest?.();
    return world.said.map((line) => line.replace('converges: ', ''));
  }

  async function say(kind: string, name: string, reason: string, beside: 'Reconciling' | 'Stalled' = 'Stalled') {
    await world.write(kind, name, { status: unready(1, reason, beside), by: operator });
  }

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
  const markCreate = (aheadMs: number) => {
    const intent = { at: new Date(epochMs + world.scheduler.now + aheadMs).toISOString(), clock: 'own' };
    const annotations = { 'edge-operator.dev/create-intent': JSON.stringify(intent) };
    return world.write('BotUser', 'bot', { annotations, by: operator });
  };

  test('speaks of a single candidate for a create that our own clock marked, and was right', async () => {
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    await markCreate(0);
    await world.make('bot_users', { name: 'bot' });
    await say('BotUser', 'bot', 'AmbiguousCreate');
    expect(await spoke()).toHaveLength(1);
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

  describe('Unreachable, of what is gone together', () => {
    let ids: readonly [string, string];
    beforeEach(async () => {
      const imported = await world.make('bot_users', { name: 'import' }, { by: 'person' });
      await world.write('BotUser', 'import', { spec: { name: 'import' }, annotations: { [externalID]: imported } });
      const ownership = { id: imported, how: 'Imported' };
      await world.write('BotUser', 'import', { status: available(1, { id: imported, ownership }), by: operator });
      ids = [await madeBotUser(world), imported];
    });

    const vanish = (id: string) => world.call({ method: 'DELETE', path: `/bot_users/${id}`, by: 'person' });

    test('is true, also where one was imported', async () => {
      for (const id of ids) await vanish(id);
      await say('BotUser', 'bot', 'Unreachable', 'Reconciling');
      const fields = { ownership: { id: ids[1], how: 'Imported' } };
      const status = unready(1, 'ExternalNotFound', 'Stalled', fields);
      await world.write('BotUser', 'import', { status, by: operator });
      expect(await spoke()).toEqual([]);
    });

    test.each([
      ['is not true beside more that was on record before the process began', true, 'op', 1],
      ['is true beside what was put on record since', false, 'op', 0],
      ['is true beside more that another installation manages', true, 'two', 0],
    ])('%s', async (_, isRecorded, manager, times) => {
      const makes = (name: string) => world.make('bot_users', { name, active: true });
      const records = async (name: string, id: string) => {
        const installation = `edge-operator-${manager}-00000000`;
        const status = available(1, { id, ownership: { id, how: 'Created', installation } });
        await world.write('BotUser', name, { status, annotations: { [externalID]: id }, by: operator });
      };
      const lost = ['x', 'y', 'z'];
      for (const name of lost) await world.write('BotUser', name, { spec: { name } });
      const made = await Promise.all(lost.map(makes));
      if (isRecorded) for (const [at, id] of made.entries()) await records(lost[at] ?? '', id);
      await world.pass(1_000);
      world.begin(operator);
      if (!isRecorded) for (const [at, id] of made.entries()) await records(lost[at] ?? '', id);
      for (const id of ids) await vanish(id);
      const annotations = { 'edge-operator.dev/installation': 'edge-operator-op-00000000' };
      await world.write('BotUser', 'bot', { annotations, by: operator });
      await say('BotUser', 'bot', 'Unreachable', 'Reconciling');
      expect(await spoke()).toHaveLength(times);
    });

    test.each([
      ['is true beside what another installation made in its account', 'narrow-0.0', 0],
      ['is not true of a kind of which nothing but what this one made there with a wrong key is missing', operator, 2],
    ])('%s', async (_, by, times) => {
      begin({
        installations: [{ name: 'op' }, { name: 'narrow', settings: { watchNamespaces: 'b' }, apiKey: secondKey }],
        acts: [{ at: 0, do: 'start', installation: 'narrow' }],
      });
      world.begin('narrow-0.0', { watchNamespaces: 'b' }, secondKey);
      for (const name of ['w', 'x', 'y', 'z']) await madeBotUser(world, name);
      await madeBotUser(world, 'theirs', { namespace: 'b', by, key: secondKey });
      await world.pass(1_000);
      world.begin(operator);
      for (const name of ['one', 'two']) {
        await world.write('ReservedAddr', name, { spec: { description: name } });
        const id = await world.make('reserved_addrs', { description: name });
        const status = unready(1, 'Unreachable', 'Reconciling', { id, ownership: { id, how: 'Created' } });
        await world.write('ReservedAddr', name, { status, annotations: { [externalID]: id }, by: operator });
        await world.call({ method: 'DELETE', path: `/reserved_addrs/${id}`, by: 'person' });
      }
      expect((await spoke()).filter((line) => line.includes('ReservedAddr'))).toHaveLength(times);
    });

    test('is true beside what its installation put on record since it began, though another one began later', async () => {
      begin({
        installations: [{ name: 'op' }, { name: 'late', apiKey: secondKey }],
        acts: [{ at: 0, do: 'start', installation: 'late' }],
      });
      world.begin(operator);
      const gone = [await madeBotUser(world, 'one'), await madeBotUser(world, 'two')];
      for (const name of ['x', 'y', 'z']) await madeBotUser(world, name);
      await world.pass(1_000);
      world.begin('late-0.0', {}, secondKey);
      for (const id of gone) await vanish(id);
      for (const [at, name] of ['one', 'two'].entries()) {
        const status = unready(1, 'Unreachable', 'Reconciling', { ownership: { id: gone[at], how: 'Created' } });
        await world.write('BotUser', name, { status, by: operator });
      }
      expect(await spoke()).toEqual([]);
    });

    test('is true of a lone one that is there with the key before', async () => {
      world.begin('op-0.1', {}, secondKey);
      await say('BotUser', 'bot', 'Unreachable', 'Reconciling');
      await say('BotUser', 'import', 'ExternalNotFound');
      expect(await spoke()).toEqual([]);
    });

    test('is not true of a lone one', async () => {
      await vanish(ids[0]);
      await say('BotUser', 'bot', 'Unreachable', 'Reconciling');
      expect(await spoke()).toEqual(['BotUser a/bot is not Ready: Unreachable, so it is']);
    });
  });

  describe('Unreachable, of a lone one that was not seen with the key in force', () => {
    const rotated = 'main-key-CANARY-9';
    let id: string;
    beforeEach(async () => {
      begin({
        cloud: { apiKeys: [`main=${mainKey}`, `main=${rotated}`] },
        installations: [{ name: 'op' }, { name: 'narrow', settings: { watchNamespaces: 'b' } }],
      });
      id = await madeBotUser(world);
    });

    async function rotate() {
      await world.pass(1_000);
      world.begin('op-0.1', {}, rotated);
    }
    const vanish = (by = 'person') => world.call({ method: 'DELETE', path: `/bot_users/${id}`, by });
    const read = () => world.call({ method: 'GET', path: '/bot_users', key: rotated, answer: { bot_users: [{ id }] } });
    const makeAnother = () => madeBotUser(world, 'another');
    const unreachable = 'BotUser a/bot is not Ready: Unreachable, so it is';

    test.each([
      ['is true where somebody deleted it', [], [vanish, rotate]],
      ['is true where another installation deleted it', [], [() => vanish('narrow-0.0'), rotate]],
      ['is true beside what was made with that key', [], [vanish, rotate, makeAnother]],
      ['is not true while it is there', [unreachable], [rotate]],
      ['is not true where nobody else deleted it', [unreachable], [() => vanish(operator), rotate]],
      ['is not true with the key with which it was seen', [unreachable], [vanish]],
      ['is not true where it was seen with that key too', [unreachable], [rotate, read, vanish]],
      ['is not true beside another one that was there before', [unreachable], [makeAnother, vanish, rotate]],
      ['is true beside one, to a second process since', [], [makeAnother, vanish, rotate, rotate]],
      ['is true where it was seen with that key just before, to the next process', [], [rotate, read, vanish, rotate]],
      [
        'is not true where it was checked since',
        [unreachable],
        [rotate, read, () => world.pass(3_600_000), vanish, rotate],
      ],
    ])('%s', async (_, said, happens) => {
      for (const each of happens) await each();
      await say('BotUser', 'bot', 'Unreachable', 'Reconciling');
      expect(await spoke()).toEqual(said);
    });
  });

  describe('Unreachable, of a create that nobody knows the end of', () => {
    const rotated = 'main-key-CANARY-9';
    const begun = (account: string) => ({
      'edge-operator.dev/create-intent': '{"at":"2030-01-01T00:00:00Z","clock":"own"}',
      'edge-operator.dev/account': account,
    });
    const unreachable = 'BotUser a/bot is not Ready: Unreachable, so it is';

    beforeEach(() => begin({ cloud: { apiKeys: [`main=${mainKey}`, `main=${rotated}`] } }));

    async function rotate() {
      await world.pass(1_000);
      world.begin('op-0.1', {}, rotated);
    }
    const make = () => madeBotUser(world, 'another');

    test.each([
      ['is not true with the key that it was sent with', [unreachable], [], 'default', []],
      ['is true with another one', [], [], 'default', [rotate]],
      ['is true beside what was made with that one', [], [], 'default', [rotate, make]],
      ['is not true beside what was there before', [unreachable], [make], 'default', [rotate]],
      ['is true beside that, to a second process since', [], [make], 'default', [rotate, rotate]],
      ['is not true where its account is gone', [unreachable], [], 'CloudAccount/none', [rotate]],
    ])('%s', async (_, said, before, account, after) => {
      for (const each of before) await each();
      await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
      await world.write('BotUser', 'bot', { annotations: begun(account), by: operator });
      for (const each of after) await each();
      await say('BotUser', 'bot', 'Unreachable', 'Reconciling');
      expect(await spoke()).toEqual(said);
    });

    test.each([
      [60_000, []],
      [600_000, [unreachable]],
    ])('is true where a backup was restored since, as %i ms after it was made', async (forMs, said) => {
      begin({ acts: [{ at: 0, do: 'trouble', name: 'kube-restored', forMs }] });
      await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
      await world.write('BotUser', 'bot', { annotations: begun('default'), by: operator });
      await world.pass(300_000);
      await say('BotUser', 'bot', 'Unreachable', 'Reconciling');
      expect(await spoke()).toEqual(said);
    });

    test.each([
      ['is true where much of its account is gone, whatever account it names by then', 'default', []],
      ['is not true where much of another account is', 'CloudAccount/acct', [unreachable]],
    ])('%s', async (_, account, said) => {
      await world.data('Secret', 'key', { key: secondKey });
      await world.write('CloudAccount', 'acct', { spec: { apiKeySecretRef: { name: 'key', key: 'key' } } });
      await world.write('CloudAccount', 'acct', { status: available(1), by: operator });
      const gone = [await madeBotUser(world, 'one'), await madeBotUser(world, 'two')];
      await world.write('BotUser', 'bot', { spec: { name: 'bot', accountRef: { name: 'acct' } } });
      await world.write('BotUser', 'bot', { annotations: begun(account), by: operator });
      for (const id of gone) await world.call({ method: 'DELETE', path: `/bot_users/${id}`, by: 'person' });
      await say('BotUser', 'bot', 'Unreachable', 'Reconciling');
      expect((await spoke()).filter((line) => line.includes('a/bot '))).toEqual(said);
    });
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
      for (const by of saying)
        await world.write('BotUser', 'other', { ...(by === operator ? contradicted : left), by });
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
});

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

  test('a change', async () => {
    await world.make('bot_users', { name: 'y' });
    expect(world.said).toEqual(['calm: POST /bot_users by op-0.0 (201)']);
  });

  test('what is refused all the time', async () => {
    for (let n = 0; n < 8; n += 1) await world.call({ method: 'PUT', path: policyPath, body: {}, status: 400 });
    expect(world.said).toEqual([`calm: PUT ${policyPath} by op-0.0 (400)`]);
  });
});

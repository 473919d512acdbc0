import { beforeEach, describe, expect, test } from '@jest/globals';
import { mainKey } from '../core/story.ts';
import { nothingStolen } from './nothing-stolen.ts';
import { kubeModelOf } from './witness/kube-model.ts';
import { available, condition, FakeWorld, madeBotUser, operator, unready } from './witness/witness.fixture.ts';

const externalID = 'edge-operator.dev/external-id';
const path = '/edges/https/edghts_a/routes/edghtsrt_a/compression';
const [edgeID, routeID] = ['edghts_a', 'edghtsrt_a'];
const spec = { edgeID, routeID, compression: { enabled: true } };

let world: FakeWorld;

const cloud = { apiKeys: [`main=${mainKey}`, 'b=b-key', 'main=also-main'] };

beforeEach(() => {
  world = new FakeWorld({ cloud });
  world.judge(nothingStolen);
});

const spoke = () => world.said.map((line) => line.replace('nothing-stolen: ', ''));

async function account(namespace: string, name: string, key: string) {
  await world.data('Secret', name, { key }, namespace);
  await world.write('CloudAccount', name, { namespace, spec: { apiKeySecretRef: { name, key: 'key' } } });
}

describe('objects', () => {
  test('are changed and deleted by whom they were made for', async () => {
    const id = await madeBotUser(world);
    await world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name: 'other' } });
    await world.call({ method: 'DELETE', path: `/bot_users/${id}` });
    await world.call({ method: 'DELETE', path: `/bot_users/${id}`, status: 404 });
    expect(spoke()).toEqual([]);
  });

  test('are imported', async () => {
    const id = await world.make('bot_users', { name: 'theirs' }, { by: 'person' });
    await world.write('BotUser', 'bot', { spec: { name: 'bot' }, annotations: { [externalID]: id } });
    await world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name: 'bot' } });
    expect(spoke()).toEqual([]);
  });

  test.each([
    ['another account, by a key that was wrong', 'b-key', 0],
    ['the same account', mainKey, 1],
  ])('are imported by whose own is in %s', async (_, key, times) => {
    const spec = { name: 'bot', accountRef: { name: 'acct' } };
    await account('a', 'acct', key);
    await madeBotUser(world, 'bot', { key, spec });
    await account('a', 'acct', mainKey);
    const id = await world.make('bot_users', { name: 'theirs' }, { by: 'person' });
    await world.write('BotUser', 'bot', { annotations: { [externalID]: id } });
    await world.pass(60_000);
    await world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name: 'bot' } });
    expect(spoke()).toHaveLength(times);
  });

  test('that people made and nobody imported are left alone', async () => {
    const id = await world.make('bot_users', { name: 'theirs' }, { by: 'person' });
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    await world.call({ method: 'DELETE', path: `/bot_users/${id}` });
    await world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name: 'bot' }, by: 'person' });
    expect(spoke()).toEqual([expect.stringContaining("it is a person's")]);
  });

  test.each([
    ['its own, while no status says otherwise', undefined, mainKey, undefined, 0],
    ['its own, while its status says that another is', undefined, mainKey, 'bot_own', 1],
    ['another one’s', 'another', mainKey, undefined, 1],
    ['its own, of another account', undefined, 'b-key', undefined, 1],
  ])('that people made and a record claims, which is %s', async (_, of, key, owned, times) => {
    const id = await world.make('bot_users', { name: 'theirs' }, { by: 'person', key });
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    if (owned !== undefined)
      await world.write('BotUser', 'bot', { status: available(1, { ownership: { id: owned } }), by: operator });
    const [bot] = kubeModelOf(world).ofKind('BotUser');
    const records = { 'edge-operator.dev/created-id': id, 'edge-operator.dev/record-of': of ?? bot?.uid ?? '' };
    await world.write('BotUser', 'bot', { annotations: records });
    await world.call({ method: 'DELETE', path: `/bot_users/${id}`, key });
    expect(spoke()).toHaveLength(times);
  });

  test.each([
    ['before', 500, 0],
    ['since', 1_500, 1],
  ])(
    'that people made and a record claims, whose status said %s a restore that another is',
    async (_, saidAt, times) => {
      world = new FakeWorld({ cloud, acts: [{ at: 0, do: 'trouble', name: 'kube-restored', forMs: 1_000 }] });
      world.judge(nothingStolen);
      const id = await world.make('bot_users', { name: 'theirs' }, { by: 'person' });
      await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
      const backup = world.backup();
      const say = () =>
        world.write('BotUser', 'bot', { status: available(1, { ownership: { id: 'bot_own' } }), by: operator });
      await world.pass(500);
      if (saidAt === 500) await say();
      await world.pass(500);
      await world.restore(backup);
      await world.pass(500);
      if (saidAt === 1_500) await say();
      const [bot] = kubeModelOf(world).ofKind('BotUser');
      const records = { 'edge-operator.dev/created-id': id, 'edge-operator.dev/record-of': bot?.uid ?? '' };
      await world.write('BotUser', 'bot', { annotations: records });
      await world.call({ method: 'DELETE', path: `/bot_users/${id}` });
      expect(spoke()).toHaveLength(times);
    },
  );

  test('that a resource is told to take while it has its own are not its to delete (O4)', async () => {
    await madeBotUser(world);
    const foreign = await world.make('bot_users', { name: 'theirs' }, { by: 'person' });
    await world.write('BotUser', 'bot', { annotations: { [externalID]: foreign } });
    await world.write('BotUser', 'bot', { deleting: true });
    await world.call({ method: 'DELETE', path: `/bot_users/${foreign}` });
    expect(spoke()).toEqual([expect.stringContaining("it is a person's")]);
  });

  test.each([
    ['when that has gone', true, false, 0],
    ['while that is there', false, false, 1],
    ['to remove it after that', true, true, 1],
  ])('that a resource is told to take while it has its own are its to have %s', async (_, hasGone, deleting, times) => {
    const own = await madeBotUser(world);
    const foreign = await world.make('bot_users', { name: 'theirs' }, { by: 'person' });
    await world.write('BotUser', 'bot', { annotations: { [externalID]: foreign }, deleting });
    await world.pass(1_000);
    if (hasGone) await world.call({ method: 'DELETE', path: `/bot_users/${own}` });
    await world.pass(60_000);
    await world.call({ method: 'PATCH', path: `/bot_users/${foreign}`, body: { name: 'bot' } });
    expect(spoke()).toHaveLength(times);
  });

  test('of another resource are not changed for an older one that names them by mistake (O5)', async () => {
    await world.write('BotUser', 'older', { spec: { name: 'older' } });
    const id = await madeBotUser(world);
    await world.write('BotUser', 'older', { annotations: { [externalID]: id } });
    await world.pass(60_000);
    await world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name: 'older' } });
    expect(spoke()).toEqual([]);
    await world.remove('BotUser', 'bot');
    await world.pass(60_000);
    await world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name: 'older' } });
    expect(spoke()).toEqual([]);
  });

  test.each([
    ['where its account was shown as empty', [mainKey], 0],
    ['where another account was', ['b-key'], 1],
    ['where none was', [], 1],
  ])('that an operator lets go of are a person’s to name %s', async (_, emptied, times) => {
    const acts = emptied.map((key) => ({
      ...{ at: 0, do: 'trouble' as const, name: 'empty-account', forMs: 60_000 },
      with: { key, probability: 1 },
    }));
    world = new FakeWorld({ cloud, acts });
    world.judge(nothingStolen);
    const id = await madeBotUser(world);
    const forgotten = { [externalID]: null, 'edge-operator.dev/created-id': null };
    await world.write('BotUser', 'bot', { annotations: forgotten, status: available(1), by: operator });
    await account('a', 'acct', 'also-main');
    const spec = { name: 'other', accountRef: { name: 'acct' } };
    await world.write('BotUser', 'other', { spec, annotations: { [externalID]: id } });
    await world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name: 'other' }, key: 'also-main' });
    expect(spoke()).toHaveLength(times);
  });

  test('of another namespace are not reached by a forged annotation (O1)', async () => {
    await account('victim', 'acct', 'b-key');
    const id = await madeBotUser(world, 'victims', {
      ...{ namespace: 'victim', key: 'b-key' },
      spec: { name: 'victims', accountRef: { name: 'acct' } },
    });
    await world.write('BotUser', 'forged', {
      ...{ namespace: 'thief', spec: { name: 'x' }, deleting: true },
      annotations: { [externalID]: id, 'edge-operator.dev/account': 'victim/acct' },
    });
    await world.remove('BotUser', 'victims', { namespace: 'victim' });
    await world.pass(60_000);
    await world.call({ method: 'DELETE', path: `/bot_users/${id}`, key: 'b-key' });
    expect(spoke()).toEqual([expect.stringContaining("it is BotUser victim/victims's")]);
  });

  test.each([
    ['it', (id: string) => id, 0],
    ['another', () => 'bot_other', 1],
  ])('are looked at with the key of who was answered with %s', async (_, answered, times) => {
    const id = await madeBotUser(world);
    await account('b', 'own', 'b-key');
    const annotations = { 'edge-operator.dev/create-intent': JSON.stringify({ answered: answered(id) }) };
    await world.write('BotUser', 'bot', {
      ...{ namespace: 'b', annotations },
      spec: { name: 'other', accountRef: { name: 'own' } },
    });
    await world.call({ method: 'GET', path: `/bot_users/${id}`, key: 'b-key' });
    expect(spoke()).toHaveLength(times);
  });

  test('are looked at and changed with a key of their own resource', async () => {
    const id = await madeBotUser(world);
    await world.call({ method: 'GET', path: `/bot_users/${id}`, key: 'also-main' });
    await world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name: 'x' }, key: 'also-main' });
    expect(spoke()).toEqual([
      expect.stringContaining('with a key that is not of BotUser a/bot'),
      expect.stringContaining('the key is none of BotUser a/bot'),
    ]);
  });

  test('that an unanswered create made belong to whoever asked for it', async () => {
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    const id = await world.make('bot_users', { name: 'bot' }, { arrives: false });
    await world.write('BotUser', 'bot', { deleting: true });
    await world.call({ method: 'DELETE', path: `/bot_users/${id}` });
    expect(spoke()).toEqual([]);
  });

  test('that another installation made are not adopted (O9)', async () => {
    world = new FakeWorld({
      installations: [
        { name: 'op', settings: { watchNamespaces: 'a' } },
        { name: 'two', settings: { watchNamespaces: 'b' } },
      ],
    });
    world.judge(nothingStolen);
    const id = await madeBotUser(world);
    await world.write('BotUser', 'twin', { namespace: 'b', spec: { name: 'bot' } });
    await world.write('BotUser', 'twin', { namespace: 'b', annotations: { [externalID]: id }, by: 'two-0.0' });
    await world.write('BotUser', 'twin', { namespace: 'b', deleting: true });
    await world.call({ method: 'DELETE', path: `/bot_users/${id}`, by: 'two-0.0' });
    expect(spoke()).toEqual([expect.stringContaining("it is BotUser a/bot's")]);
  });

  test.each([
    ['has asked for just that', ['{}'], 0],
    ['has asked for nothing', [], 1],
  ])(
    'that an unanswered create of another installation made, which this one may not see, when it %s',
    async (_, marks, times) => {
      const installations = [{ name: 'op' }, { name: 'two', settings: { watchNamespaces: 'b' } }];
      world = new FakeWorld({
        installations: installations.map((each) => ({ settings: { watchNamespaces: 'a' }, ...each })),
      });
      world.judge(nothingStolen);
      const annotations = Object.fromEntries(marks.map((mark) => ['edge-operator.dev/create-intent', mark]));
      const twin = { namespace: 'b', spec: { name: 'bot' } };
      await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
      await world.write('BotUser', 'twin', { ...twin, annotations });
      const id = await world.make('bot_users', { name: 'bot' }, { arrives: false });
      await world.call({ method: 'DELETE', path: `/bot_users/${id}`, by: 'two-0.0' });
      expect(spoke()).toHaveLength(times);
    },
  );

  test('that another installation made, which this one may not see, are a person’s to name', async () => {
    const installations = ['a', 'b'].map((watchNamespaces) => ({
      name: watchNamespaces === 'a' ? 'op' : 'two',
      settings: { watchNamespaces },
    }));
    world = new FakeWorld({ installations });
    world.judge(nothingStolen);
    const id = await madeBotUser(world);
    await world.write('BotUser', 'twin', { namespace: 'b', spec: { name: 'bot' }, annotations: { [externalID]: id } });
    await world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name: 'bot' }, by: 'two-0.0' });
    expect(spoke()).toEqual([]);
  });

  test('of an account that a resource does not use are not named to it', async () => {
    await account('victim', 'acct', 'b-key');
    const id = await madeBotUser(world, 'victims', {
      ...{ namespace: 'victim', key: 'b-key' },
      spec: { name: 'victims', accountRef: { name: 'acct' } },
    });
    const status = { conditions: [condition('Ready', 'False', 'AmbiguousCreate', 1, `any of ${id}: choose`)] };
    await world.write('BotUser', 'curious', { spec: { name: 'x' } });
    await world.write('BotUser', 'curious', { status, by: operator });
    expect(spoke()).toEqual([`BotUser a/curious is told of ${id} of another namespace`]);
  });
});

describe('modules', () => {
  const put = (enabled = true, more: object = {}) => world.call({ method: 'PUT', path, body: { enabled }, ...more });

  test('are shared where the parts differ, and taken over when the owner goes', async () => {
    await world.write('HttpsRouteModules', 'one', { spec });
    await put();
    await world.write('HttpsRouteModules', 'two', { spec });
    await world.pass(60_000);
    await put();
    await world.write('HttpsRouteModules', 'one', { deleting: true });
    await world.pass(60_000);
    await put();
    await world.call({ method: 'DELETE', path });
    expect(spoke()).toEqual([]);
  });

  test('are not changed for a resource that came later (O5, O10)', async () => {
    await world.write('HttpsRouteModules', 'one', { spec });
    await put();
    await world.pass(60_000);
    await world.write('HttpsRouteModules', 'two', { spec: { ...spec, compression: { enabled: false } } });
    await put(false);
    const why = 'HttpsRouteModules a/one has it, and HttpsRouteModules a/two puts something else there';
    expect(spoke()).toEqual([expect.stringContaining(why)]);
  });

  test('are whose is first once their owner has removed them', async () => {
    await world.write('HttpsRouteModules', 'one', { spec });
    await put();
    await world.pass(1_000);
    await world.write('HttpsRouteModules', 'one', { spec: { ...spec, compression: undefined } });
    await world.call({ method: 'DELETE', path });
    await world.pass(60_000);
    await world.write('HttpsRouteModules', 'two', { spec: { ...spec, compression: { enabled: false } } });
    await world.write('HttpsRouteModules', 'one', { spec });
    await put(false);
    expect(spoke()).toEqual([]);
  });

  test('of two that begin at once either may be first', async () => {
    await world.write('HttpsRouteModules', 'one', { spec });
    await world.write('HttpsRouteModules', 'two', { spec: { ...spec, compression: { enabled: false } } });
    await put();
    await put(false);
    expect(spoke()).toEqual([]);
  });

  test('are not removed for a resource that never had them', async () => {
    await world.write('HttpsRouteModules', 'one', { spec });
    await put();
    await world.pass(60_000);
    await world.write('HttpsRouteModules', 'two', { spec });
    await world.write('HttpsRouteModules', 'two', { deleting: true });
    await world.call({ method: 'DELETE', path });
    expect(spoke()).toEqual([
      expect.stringContaining('HttpsRouteModules a/one has it; it is not of HttpsRouteModules a/two'),
    ]);
  });

  test.each([
    ['two', []],
    ['one', [expect.stringContaining('HttpsRouteModules a/two has it; it is not of HttpsRouteModules a/one')]],
  ])('that two ask for alike belong to whom it was reported for, when %s goes', async (gone, said) => {
    for (const name of ['one', 'two']) await world.write('HttpsRouteModules', name, { spec });
    await put();
    await world.write('HttpsRouteModules', 'two', { status: available(1), by: operator });
    await world.pass(60_000);
    await world.write('HttpsRouteModules', gone, { deleting: true });
    await world.call({ method: 'DELETE', path });
    expect(spoke()).toEqual(said);
  });

  test('that a resource put there with a wrong key are not its own when it has another', async () => {
    await account('a', 'own', 'b-key');
    await world.write('HttpsRouteModules', 'wrong', { spec });
    world.begin('op-0.1', {}, 'b-key');
    await put(true, { key: 'b-key', by: 'op-0.1' });
    world.begin('op-0.2');
    await world.pass(60_000);
    const asked = { ...spec, accountRef: { name: 'own' }, compression: { enabled: false } };
    await world.write('HttpsRouteModules', 'own', { spec: asked });
    await put(false, { key: 'b-key', by: 'op-0.2' });
    await world.write('HttpsRouteModules', 'own', { deleting: true });
    await world.call({ method: 'DELETE', path, key: 'b-key', by: 'op-0.2' });
    expect(spoke()).toEqual([]);
  });

  test.each([
    [
      'goes by where it may have heard of nothing since',
      [{ at: 0, do: 'trouble', name: 'watches-frozen', forMs: 200_000 }] as const,
      0,
    ],
    ['does not go by a minute later', [], 1],
  ])('are set for a younger resource too with the key before, which an operator %s', async (_, acts, spoken) => {
    world = new FakeWorld({ acts, cloud });
    world.judge(nothingStolen);
    await account('a', 'own', mainKey);
    await world.data('Secret', 'own', { key: 'b-key' }, 'a');
    await world.pass(60_000);
    await world.write('HttpsRouteModules', 'one', { spec: { ...spec, accountRef: { name: 'own' } } });
    await put();
    expect(spoke()).toHaveLength(spoken);
  });

  describe('of an owner whose account has a key again that it had before', () => {
    const asked = { ...spec, accountRef: { name: 'two' }, compression: { enabled: false } };
    const told = { status: { conditions: [condition('CompressionReady', 'False', 'Conflict', 1)] } };
    const younger = (more: object) => world.write('HttpsRouteModules', 'two', { ...more, by: 'op-0.1' });

    beforeEach(async () => {
      await account('a', 'one', mainKey);
      await account('a', 'two', mainKey);
      await world.write('HttpsRouteModules', 'one', { spec: { ...spec, accountRef: { name: 'one' } } });
      await put();
      await world.pass(60_000);
      await world.write('HttpsRouteModules', 'two', { spec: asked });
      await world.data('Secret', 'one', { key: 'wrong' }, 'a');
      await world.pass(60_000);
      world.begin('op-0.1');
      await world.pass(1_000);
    });

    async function putBack(ms = 0) {
      await world.data('Secret', 'one', { key: mainKey }, 'a');
      await world.pass(ms);
      await put(false, { by: 'op-0.1' });
    }

    test('are taken by a process that began since', async () => {
      await putBack();
      expect(spoke()).toEqual([]);
    });

    test('are not by a process that could know of it', async () => {
      await putBack(60_000);
      expect(spoke()).toHaveLength(1);
    });

    test('are not by a process that saw it before', async () => {
      await world.data('Secret', 'one', { key: mainKey }, 'a');
      await put(false);
      expect(spoke()).toHaveLength(1);
    });

    test('are not for whom was told of a Conflict over them', async () => {
      await younger(told);
      await younger({ status: unready(1, 'DependencyNotReady', 'Reconciling') });
      await putBack();
      expect(spoke()).toHaveLength(1);
    });

    test.each([
      ['are for whom is proven to have them too', false, {}, 0],
      ['are not for whom is proven to have lost them', false, { contested: ['compression'] }, 1],
      ['are not for whom came to have them with the same key', true, {}, 1],
    ])('%s', async (_, isTogether, lost, times) => {
      if (isTogether) await world.data('Secret', 'one', { key: mainKey }, 'a');
      await world.pass(isTogether ? 60_000 : 0);
      const status = available(1, { ownership: { how: 'Applied', parts: ['compression'], ...lost } });
      await younger(told);
      await younger({ status });
      await putBack(60_000);
      expect(spoke()).toHaveLength(times);
    });
  });

  test.each([
    ['an account that he may use', {}, 0],
    ['another one', { accountRef: { name: 'own' } }, 1],
  ])('that people set go with whose word it is that he applied them, in %s', async (_, more, spoken) => {
    await account('a', 'own', 'b-key');
    await put(true, { by: 'person' });
    const annotations = { 'edge-operator.dev/applied-parts': 'webhookVerification,compression' };
    await world.write('HttpsRouteModules', 'forged', { spec: { edgeID, routeID, ...more }, annotations });
    await world.call({ method: 'DELETE', path });
    expect(spoke()).toHaveLength(spoken);
  });

  test('that people set and no resource names are left alone', async () => {
    await put(true, { by: 'person' });
    await world.call({ method: 'DELETE', path });
    expect(spoke()).toEqual([expect.stringContaining("it is no resource's that names it")]);
  });

  test('that were as they should be belong to whom it was reported for', async () => {
    await put(true, { by: 'person' });
    await world.write('HttpsRouteModules', 'one', { spec });
    await world.write('HttpsRouteModules', 'one', { status: available(1), by: operator });
    await world.pass(60_000);
    await world.write('HttpsRouteModules', 'two', { spec: { ...spec, compression: { enabled: false } } });
    await put(false);
    expect(spoke()).toHaveLength(1);
  });
});

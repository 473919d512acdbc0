import { beforeEach, describe, expect, test } from '@jest/globals';
import { mainKey } from '../core/story.ts';
import { impliedCalls } from './implied-calls.ts';
import { FakeWorld, madeBotUser, operator } from './witness/witness.fixture.ts';

const externalID = 'edge-operator.dev/external-id';
const createdID = 'edge-operator.dev/created-id';
const createIntent = 'edge-operator.dev/create-intent';
const route = '/edges/https/edghts_a/routes/edghtsrt_a';
const parent = { edgeID: 'edghts_a', routeID: 'edghtsrt_a' };

let world: FakeWorld;

beforeEach(() => {
  world = new FakeWorld();
  world.judge(impliedCalls);
});

const spoke = () => world.said.map((line) => line.replace('implied-calls: ', ''));

describe('objects', () => {
  test('a life without troubles: created, edited, deleted', async () => {
    const id = await madeBotUser(world);
    await world.write('BotUser', 'bot', { spec: { name: 'other' } });
    await world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name: 'other' } });
    await world.write('BotUser', 'bot', { deleting: true });
    await world.call({ method: 'DELETE', path: `/bot_users/${id}` });
    expect(spoke()).toEqual([]);
  });

  test('a POST of what nobody asks for', async () => {
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    await world.make('bot_users', { name: 'else', active: true });
    expect(spoke()).toEqual([expect.stringContaining('no BotUser asks for {"name":"else","active":true}')]);
  });

  test('a POST for a resource that was deleted 57 s ago (B12), and not for one of 20 s ago', async () => {
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    await world.pass(60_000);
    await world.write('BotUser', 'bot', { deleting: true });
    await world.pass(20_000);
    await world.make('bot_users', { name: 'bot', active: true });
    expect(spoke()).toEqual([]);
    await world.remove('BotUser', 'bot');
    await world.pass(37_000);
    await world.make('bot_users', { name: 'bot', active: true });
    expect(spoke()).toEqual([expect.stringContaining('no BotUser asks for')]);
  });

  test.each([
    [1_000, 0],
    [50, 1],
  ])(
    'a change for who imports what another made, and has nothing of his own on record, since a restore of what was %i ms old',
    async (forMs, times) => {
      world = new FakeWorld({ acts: [{ at: 100, do: 'trouble', name: 'kube-restored', forMs }] });
      world.judge(impliedCalls);
      for (const name of ['bot', 'other']) await world.write('BotUser', name, { spec: { name } });
      const backup = world.backup();
      await world.pass(200);
      await madeBotUser(world);
      const id = await madeBotUser(world, 'other');
      await world.restore(backup);
      await world.write('BotUser', 'bot', { annotations: { [externalID]: id } });
      await world.pass(60_000);
      await world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name: 'bot' } });
      expect(spoke()).toHaveLength(times);
    },
  );

  test.each([
    ['by whom another was made for', true, 0],
    ['by who has nothing else', false, 1],
  ])('a change for who imports what was left, as the service denied it, %s', async (_, isReplaced, times) => {
    world = new FakeWorld({ acts: [{ at: 5_000, do: 'trouble', name: 'empty-account', forMs: 60_000 }] });
    world.judge(impliedCalls);
    for (const name of ['bot', 'other']) await world.write('BotUser', name, { spec: { name } });
    const left = await madeBotUser(world);
    await world.pass(10_000);
    if (isReplaced) await madeBotUser(world);
    await world.write('BotUser', 'other', { annotations: { [externalID]: left } });
    await world.pass(120_000);
    await world.call({ method: 'PATCH', path: `/bot_users/${left}`, body: { name: 'other' } });
    expect(spoke()).toHaveLength(times);
  });

  test.each<[what: string, status: object | undefined, times: number]>([
    ['all', {}, 0],
    ['the annotations alone', undefined, 1],
  ])('a change for who imports what its maker has lost %s of its records of to a person', async (_, status, times) => {
    const id = await madeBotUser(world);
    const none = { 'edge-operator.dev/external-id': null, 'edge-operator.dev/created-id': null };
    await world.write('BotUser', 'bot', { annotations: none, ...(status && { status: {} }) });
    const annotations = { 'edge-operator.dev/external-id': id };
    await world.write('BotUser', 'copy', { spec: { name: 'copy' }, annotations });
    await world.pass(60_000);
    await world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name: 'copy' } });
    expect(spoke()).toHaveLength(times);
  });

  test('what was sent in time and arrived late', async () => {
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    await world.pass(10_000);
    await world.remove('BotUser', 'bot');
    await world.pass(80_000);
    await world.make('bot_users', { name: 'bot', active: true }, { sentAt: 9_000 });
    expect(spoke()).toEqual([]);
  });

  test('a watch that is troubled makes old knowledge good', async () => {
    world = new FakeWorld({ acts: [{ at: 5_000, do: 'trouble', name: 'watches-frozen', forMs: 100_000 }] });
    world.judge(impliedCalls);
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    await world.pass(10_000);
    await world.remove('BotUser', 'bot');
    await world.pass(80_000);
    await world.make('bot_users', { name: 'bot', active: true });
    expect(spoke()).toEqual([]);
  });

  test.each([
    ['paused', { annotations: { 'edge-operator.dev/paused': 'true' } }],
    ['Observe', { spec: { name: 'bot', managementPolicy: 'Observe' } }],
  ])('a POST for a resource that is %s', async (_, manifest) => {
    await world.write('BotUser', 'bot', { spec: { name: 'bot' }, ...manifest });
    await world.make('bot_users', { name: 'bot', active: true });
    expect(spoke()).toEqual([expect.stringContaining('BotUser a/bot is deleted, paused or Observe')]);
  });

  test('an import that is made anew (O11), also when its annotation was put back by the operator', async () => {
    const id = await world.make('bot_users', { name: 'bot', active: true }, { by: 'person' });
    await world.write('BotUser', 'bot', { spec: { name: 'bot' }, annotations: { [externalID]: id } });
    await world.pass(100_000);
    await world.write('BotUser', 'bot', { annotations: { [externalID]: null } });
    await world.write('BotUser', 'bot', { annotations: { [externalID]: id }, by: operator });
    await world.call({ method: 'DELETE', path: `/bot_users/${id}`, by: 'person' });
    await world.pass(100_000);
    await world.write('BotUser', 'bot', { annotations: { [externalID]: null, intent: 'x' }, by: operator });
    await world.make('bot_users', { name: 'bot', active: true });
    expect(spoke()).toEqual([expect.stringContaining(`BotUser a/bot imports ${id}`)]);
  });

  test('what vanished is made anew, what is there is not (O2)', async () => {
    const id = await madeBotUser(world);
    await world.call({ method: 'DELETE', path: `/bot_users/${id}`, by: 'person' });
    await madeBotUser(world);
    expect(spoke()).toEqual([]);
    await world.make('bot_users', { name: 'bot', active: true });
    expect(spoke()).toEqual([expect.stringContaining('BotUser a/bot has bot_000000000000000000000000002 already')]);
  });

  test.each([
    ['that nothing tells of since a restore', 1_000, false, 0],
    ['that an operator put on record again since', 1_000, true, 1],
    ['though a restore is to come', 100_000, false, 1],
  ])('a POST for a resource that has one already, %s', async (_, forMs, isPutBack, times) => {
    world = new FakeWorld({ acts: [{ at: 100, do: 'trouble', name: 'kube-restored', forMs }] });
    world.judge(impliedCalls);
    const empty = world.backup();
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    const backup = world.backup();
    await world.pass(200);
    const id = await madeBotUser(world);
    const records = { 'edge-operator.dev/created-id': id };
    await world.write('BotUser', 'bot', { annotations: { ...records, [externalID]: 'bot_another' }, by: operator });
    if (forMs < 60_000) {
      await world.pass(500);
      await world.restore(empty);
      await world.pass(400);
      await world.restore(backup);
      await world.pass(1_000);
    }
    if (isPutBack) await world.write('BotUser', 'bot', { annotations: records, by: operator });
    await world.pass(30_000);
    await world.make('bot_users', { name: 'bot', active: true });
    expect(spoke()).toHaveLength(times);
  });

  test.each([
    ['whose resource is gone, by an open create', {}, 0],
    ['whose resource is gone, by who begun none', { isOpen: false }, 1],
    ['whose resource is there, by an open create', { isThere: true }, 1],
  ])('a POST of another after what was gone was taken from an old list, %s', async (_, story, times) => {
    const { isOpen, isThere } = { isOpen: true, isThere: false, ...story };
    const id = await madeBotUser(world, 'one', { spec: { name: 'twin' } });
    const marked = { annotations: { [createIntent]: isOpen ? '{}' : null } };
    await world.write('BotUser', 'two', { spec: { name: 'twin' } });
    await world.write('BotUser', 'two', { ...marked, by: operator });
    await world.write('BotUser', 'one', { deleting: true });
    await world.call({ method: 'DELETE', path: `/bot_users/${id}` });
    if (!isThere) await world.remove('BotUser', 'one', { by: operator });
    const annotations = { [createIntent]: null, [createdID]: id, [externalID]: id };
    await world.write('BotUser', 'two', { annotations, by: operator });
    await world.pass(60_000);
    await world.make('bot_users', { name: 'twin', active: true });
    expect(spoke()).toHaveLength(times);
  });

  test.each([
    ['and its own create was open', {}, 0],
    ['and no create of its own was open', { isOpen: false }, 1],
    ['and its own create asked for something else', { name: 'other' }, 1],
    ['and the record was older than that', { isOlder: true }, 1],
    ['but none was restored', { isRestored: false }, 1],
  ])(
    'a DELETE of what was made for another whose record a restored backup does not know, %s',
    async (_, story, times) => {
      const { isOpen, name, isOlder, isRestored } = {
        ...{ isOpen: true, name: 'twin', isOlder: false, isRestored: true },
        ...story,
      };
      const restored = { at: 1_000, do: 'trouble', name: 'kube-restored', forMs: 1_000 } as const;
      world = new FakeWorld({ acts: isRestored ? [restored] : [] });
      world.judge(impliedCalls);
      const mark = (open: boolean) => ({
        annotations: { [createIntent]: open ? '{}' : null },
        by: operator,
      });
      const record = (id: string) => ({ annotations: { ...mark(false).annotations, [createdID]: id } });
      await world.write('BotUser', 'one', { spec: { name: 'twin' }, ...mark(true) });
      await world.write('BotUser', 'two', { spec: { name }, ...mark(isOpen) });
      const make = async () => {
        const id = await world.make('bot_users', { name: 'twin', active: true });
        await world.write('BotUser', 'one', { ...record(id), by: operator });
        return id;
      };
      const older = isOlder ? await make() : undefined;
      const backup = world.backup();
      await world.pass(1_500);
      const id = older ?? (await make());
      await world.pass(500);
      if (isRestored) await world.restore(backup);
      await world.write('BotUser', 'two', { ...record(id), by: operator });
      await world.write('BotUser', 'two', { deleting: true });
      await world.call({ method: 'DELETE', path: `/bot_users/${id}` });
      expect(spoke()).toHaveLength(times);
    },
  );

  test('a POST with a key that the resource does not use', async () => {
    world = new FakeWorld({ cloud: { apiKeys: [`main=${mainKey}`, 'b=b-key'] } });
    world.judge(impliedCalls);
    await world.write('BotUser', 'bot', { spec: { name: 'bot' } });
    await world.make('bot_users', { name: 'bot', active: true }, { key: 'b-key' });
    expect(spoke()).toEqual([expect.stringContaining('BotUser a/bot uses another account')]);
  });

  test.each([
    ['another installation has', 'two-0.0', 0],
    ['this one has', operator, 1],
  ])('an import of what %s let go, though it is there', async (_, by, times) => {
    world = new FakeWorld({ installations: [{ name: 'op' }, { name: 'two', settings: { watchNamespaces: 'b' } }] });
    world.judge(impliedCalls);
    const id = await madeBotUser(world, 'maker', { namespace: 'b', by });
    await world.write('BotUser', 'importer', { spec: { name: 'mine' }, annotations: { [externalID]: id } });
    const gone = { [externalID]: null, 'edge-operator.dev/created-id': null };
    await world.write('BotUser', 'maker', { namespace: 'b', by, annotations: gone, status: {} });
    await world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name: 'mine' } });
    expect(spoke()).toHaveLength(times);
  });

  test('a PATCH back and forth', async () => {
    const id = await madeBotUser(world);
    await world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name: 'forth' } });
    await world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name: 'bot' } });
    await world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: {} });
    expect(spoke()).toEqual([
      expect.stringContaining('BotUser a/bot does not ask for {"name":"forth"}'),
      expect.stringContaining('it changes nothing'),
    ]);
  });

  test.each([
    ['nobody deletes it', {}, true],
    ['Retain', { spec: { name: 'bot', deletionPolicy: 'Retain' }, deleting: true }, true],
    ['Observe', { spec: { name: 'bot', managementPolicy: 'Observe' }, deleting: true }, true],
    ['it is paused', { annotations: { 'edge-operator.dev/paused': 'true' }, deleting: true }, true],
    ['it is deleted', { deleting: true }, false],
  ])('a DELETE: %s', async (_, manifest, speaks) => {
    const id = await madeBotUser(world);
    await world.pass(100_000);
    await world.write('BotUser', 'bot', manifest);
    await world.pass(100_000);
    await world.call({ method: 'DELETE', path: `/bot_users/${id}` });
    expect(spoke()).toHaveLength(speaks ? 1 : 0);
  });
});

describe('modules', () => {
  test('are put, changed, removed with their part and with their resource', async () => {
    const spec = { ...parent, compression: { enabled: true }, ipRestriction: { ipPolicyIDs: ['ipp_a', 'ipp_b'] } };
    await world.write('HttpsRouteModules', 'r', { spec });
    await world.call({ method: 'PUT', path: `${route}/compression`, body: { enabled: true } });
    await world.call({
      ...{ method: 'PUT', path: `${route}/ip_restriction` },
      body: { enabled: true, ip_policy_ids: ['ipp_b', 'ipp_a'] },
    });
    await world.pass(60_000);
    await world.write('HttpsRouteModules', 'r', { spec: { ...parent, compression: { enabled: true } } });
    await world.call({ method: 'DELETE', path: `${route}/ip_restriction` });
    await world.write('HttpsRouteModules', 'r', { deleting: true });
    await world.call({ method: 'DELETE', path: `${route}/compression` });
    expect(spoke()).toEqual([]);
  });

  test('a PUT of something else than the spec has, or with less', async () => {
    await world.write('HttpsRouteModules', 'r', { spec: { ...parent, ipRestriction: { ipPolicyIDs: ['ipp_a'] } } });
    const path = `${route}/ip_restriction`;
    await world.call({ method: 'PUT', path, body: { enabled: false, ip_policy_ids: ['ipp_a'] } });
    await world.call({ method: 'PUT', path, body: { enabled: true } });
    expect(spoke()).toHaveLength(2);
  });

  test('a secret as it was some seconds ago, and not as it was minutes ago', async () => {
    await world.data('Secret', 'hook', { key: 'first' });
    const webhookVerification = { provider: 'github', secretRef: { name: 'hook', key: 'key' } };
    await world.write('HttpsRouteModules', 'r', { spec: { ...parent, webhookVerification } });
    const put = (secret: string) =>
      world.call({
        ...{ method: 'PUT', path: `${route}/webhook_verification` },
        body: { enabled: true, provider: 'github', secret },
      });
    await put('first');
    await world.data('Secret', 'hook', { key: 'second' });
    await put('first');
    await put('second');
    expect(spoke()).toEqual([]);
    await world.pass(120_000);
    await put('first');
    expect(spoke()).toHaveLength(1);
  });

  test('a policy from a ConfigMap, in YAML', async () => {
    await world.data('ConfigMap', 'policy', { 'p.yaml': 'inbound:\n- {name: a, expressions: [], actions: []}\n' });
    const policyFrom = { configMapKeyRef: { name: 'policy', key: 'p.yaml' } };
    await world.write('TlsEdgeTrafficPolicy', 't', { spec: { edgeID: 'edgtls_a', policyFrom } });
    const put = (value: object) =>
      world.call({
        ...{ method: 'PUT', path: '/edges/tls/edgtls_a/traffic_policy' },
        body: { enabled: true, value: JSON.stringify(value) },
      });
    await put({ inbound: [{ actions: [], expressions: [], name: 'a' }] });
    expect(spoke()).toEqual([]);
    await put({ inbound: [] });
    expect(spoke()).toHaveLength(1);
  });

  test.each([
    ['is to go', { spec: parent, deleting: true }, 0],
    ['names it no more', { spec: parent }, 0],
    ['names it', { spec: { ...parent, compression: {} } }, 1],
  ])('a DELETE of what was left on purpose, for who says that it is his, and %s', async (_, manifest, times) => {
    const retained = { ...parent, deletionPolicy: 'Retain', compression: {} };
    await world.write('HttpsRouteModules', 'r', { spec: retained });
    await world.call({ method: 'PUT', path: `${route}/compression`, body: { enabled: true } });
    await world.remove('HttpsRouteModules', 'r', { by: operator });
    await world.pass(1_000);
    await world.write('HttpsRouteModules', 'again', { spec: retained });
    const annotations = { 'edge-operator.dev/applied-parts': 'compression' };
    await world.write('HttpsRouteModules', 'forger', { annotations, ...manifest });
    await world.call({ method: 'DELETE', path: `${route}/compression` });
    expect(spoke()).toHaveLength(times);
  });

  test.each([
    [1_000, 0],
    [50, 1],
  ])(
    'a DELETE for who forges that he applied it, of a part applied when the backup was %i ms old',
    async (forMs, times) => {
      world = new FakeWorld({ acts: [{ at: 100, do: 'trouble', name: 'kube-restored', forMs }] });
      world.judge(impliedCalls);
      await world.pass(200);
      await world.write('HttpsRouteModules', 'r', { spec: { ...parent, compression: {} } });
      await world.call({ method: 'PUT', path: `${route}/compression`, body: { enabled: true } });
      const annotations = { 'edge-operator.dev/applied-parts': 'compression' };
      await world.write('HttpsRouteModules', 'forger', { annotations, spec: parent });
      await world.call({ method: 'DELETE', path: `${route}/compression` });
      expect(spoke()).toHaveLength(times);
    },
  );

  test('a DELETE of a part that the spec names', async () => {
    await world.write('HttpsRouteModules', 'r', { spec: { ...parent, compression: {} } });
    await world.call({ method: 'PUT', path: `${route}/compression`, body: { enabled: true } });
    await world.call({ method: 'DELETE', path: `${route}/compression` });
    expect(spoke()).toEqual([expect.stringContaining('HttpsRouteModules a/r names it still')]);
  });
});

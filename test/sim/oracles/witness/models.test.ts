import { describe, expect, test } from '@jest/globals';
import { mainKey, secondKey } from '../../core/story.ts';
import { accountsOf } from './accounts.ts';
import { cloudModelOf, targetOf } from './cloud-model.ts';
import { Disturbances } from './disturbances.ts';
import { different, missing, strange } from './expectation.ts';
import { impliedModules, impliedObject } from './implied.ts';
import { installationsOf } from './installations.ts';
import { serviceOf } from './keys.ts';
import { kubeModelOf } from './kube-model.ts';
import { Timeline } from './timeline.ts';
import { available, FakeWorld, operator } from './witness.fixture.ts';

test('a timeline says what was at a moment, and all that was in a time', () => {
  const timeline = new Timeline<string>(4);
  for (const [at, value] of ['a', 'b', 'c', 'd'].entries()) timeline.add(at * 10, value);
  expect([timeline.at(-1), timeline.at(0), timeline.at(19), timeline.last]).toEqual([undefined, 'a', 'b', 'd']);
  expect(timeline.during(5, 20)).toEqual(['a', 'b', 'c']);
  expect(timeline.during(-5, -1)).toEqual([]);
  timeline.add(40, 'e');
  expect(timeline.all).toEqual(['b', 'c', 'd', 'e']);
});

describe('the cloud', () => {
  test.each([
    ['/reserved_addrs', { kind: 'list', collection: 'reserved_addrs' }],
    ['/bot_users/bot_a', { kind: 'object', collection: 'bot_users', id: 'bot_a' }],
    ['/bot_users/a%2Fb', { kind: 'object', collection: 'bot_users', id: 'a/b' }],
    ['/edges/https/e/routes/r/saml', { kind: 'module', path: '/edges/https/e/routes/r/saml' }],
    ['/edges/tls/e/traffic_policy', { kind: 'module', path: '/edges/tls/e/traffic_policy' }],
    ['/api/tunnels', { kind: 'other' }],
  ])('%s', (path, target) => expect(targetOf(path)).toEqual(target));

  test('is known by its answered calls: by account, with who did what', async () => {
    const world = new FakeWorld();
    const cloud = cloudModelOf(world);
    const id = await world.make('bot_users', { name: 'a' });
    await world.make('bot_users', { name: 'b' }, { key: secondKey });
    await world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name: 'c' }, by: 'person' });
    await world.call({ method: 'PATCH', path: `/bot_users/${id}`, body: { name: 'd' }, status: 400 });
    expect(cloud.object(id)?.content).toMatchObject({ name: 'c', active: true });
    expect(cloud.object(id)?.edits.map(({ installation }) => installation)).toEqual(['op', undefined]);
    expect([cloud.count('cloud/main', 'bot_users'), cloud.count('cloud/second', 'bot_users')]).toEqual([1, 1]);
    await world.call({ method: 'DELETE', path: `/bot_users/${id}` });
    expect([cloud.object(id)?.content, cloud.count('cloud/main', 'bot_users')]).toEqual([undefined, 0]);
  });

  test('a module that was removed is made again', async () => {
    const world = new FakeWorld();
    const cloud = cloudModelOf(world);
    const path = '/edges/https/e/tls_termination';
    for (const method of ['PUT', 'DELETE', 'PUT']) await world.call({ method, path, body: { enabled: true } });
    expect(cloud.thing('cloud/main', path)).toMatchObject({ content: { enabled: true }, gone: undefined });
  });
});

describe('Kubernetes', () => {
  test('versions are told from statuses, and people from operators', async () => {
    const world = new FakeWorld();
    const kube = kubeModelOf(world);
    await world.write('BotUser', 'bot', { spec: { name: 'a' } });
    await world.write('BotUser', 'bot', { status: available(1), by: operator });
    await world.write('BotUser', 'bot', { annotations: { x: 'y' }, by: operator });
    await world.write('BotUser', 'bot', { spec: { name: 'b' } });
    const resource = kube.get('BotUser', 'a', 'bot');
    expect(resource?.versions.all.map(({ generation, by }) => [generation, by])).toEqual([
      [1, undefined],
      [1, operator],
      [2, undefined],
    ]);
    expect([resource?.status?.by, resource?.ready?.reason]).toEqual([operator, 'Available']);
  });

  test('who lets go of a resource is known, and another of its name is another', async () => {
    const world = new FakeWorld();
    const kube = kubeModelOf(world);
    await world.write('BotUser', 'bot', { spec: { name: 'a' } });
    const first = kube.get('BotUser', 'a', 'bot');
    await world.remove('BotUser', 'bot', { by: operator });
    await world.write('BotUser', 'bot', { spec: { name: 'a' } });
    expect([first?.lives, first?.goneBy, kube.get('BotUser', 'a', 'bot') === first]).toEqual([false, operator, false]);
    expect(kube.ofKind('BotUser').size).toBe(2);
  });

  test('after a restore what is there counts', async () => {
    const world = new FakeWorld();
    const kube = kubeModelOf(world);
    await world.write('BotUser', 'one', { spec: { name: 'one' } });
    const backup = world.backup();
    await world.write('BotUser', 'two', { spec: { name: 'two' } });
    const two = kube.get('BotUser', 'a', 'two');
    await world.restore(backup);
    expect([...kube.live.keys()]).toEqual(['BotUser a/one']);
    expect([two?.lostByRestore, two?.lives]).toEqual([true, false]);
  });

  test('values of Secrets, also those that are gone', async () => {
    const world = new FakeWorld();
    const kube = kubeModelOf(world);
    await world.data('Secret', 's', { key: 'a' });
    await world.pass(10);
    await world.data('Secret', 's', { key: 'b' });
    await world.pass(10);
    await world.remove('Secret', 's');
    await world.pass(10);
    const { now } = world.scheduler;
    expect(kube.valuesOf('Secret', 'a', 's', 'key', 0, now)).toEqual(['a', 'b', undefined]);
    expect(kube.valuesOf('Secret', 'a', 's', 'key', now, now)).toEqual([undefined]);
    expect([
      kube.lastValueOf('Secret', 'a', 's', 'key', 100_000),
      kube.valuesOf('Secret', 'a', 't', 'key', 0, 9),
    ]).toEqual(['b', [undefined]]);
  });
});

describe('accounts', () => {
  test('are those of the installation, or of the CloudAccount of the namespace', async () => {
    const world = new FakeWorld();
    const accounts = accountsOf(world);
    const [installation] = installationsOf(world).values();
    if (installation === undefined) throw new Error('there is no installation');
    const kube = kubeModelOf(world);
    const now = (name: string) => {
      const resource = kube.get('BotUser', 'a', name);
      return resource && accounts.now(installation, resource)?.account;
    };
    await world.write('BotUser', 'default', { spec: { name: 'a' } });
    await world.write('BotUser', 'own', { spec: { name: 'a', accountRef: { name: 'acct' } } });
    expect([now('default'), now('own')]).toEqual(['cloud/main', undefined]);
    await world.data('Secret', 'key', { key: `${secondKey}\n` });
    const spec = { apiURL: 'http://other-cloud.sim/', apiKeySecretRef: { name: 'key', key: 'key' } };
    await world.write('CloudAccount', 'acct', { spec });
    expect(now('own')).toBe('other-cloud/second');
    await world.pass(10);
    await world.data('Secret', 'key', { key: mainKey });
    const own = kube.get('BotUser', 'a', 'own');
    const all = own && accounts.during(installation, own, own.versions.all, [0, world.scheduler.now]);
    expect(new Set(all?.map(({ account }) => account))).toEqual(new Set(['other-cloud/second', 'other-cloud/main']));
  });

  test('installations serve what they watch, as they were started', async () => {
    const settings = { watchNamespaces: 'a, b', resyncInterval: '90s' };
    const world = new FakeWorld({ installations: [{ name: 'op', settings, apiKey: null }] });
    const installation = installationsOf(world).get('op');
    expect(['a', 'b', 'c'].map((namespace) => installation?.serves({ namespace }, 0))).toEqual([true, true, false]);
    expect(installation?.at(0)).toMatchObject({ resyncMs: 90_000, requestsPerMinute: 120 });
    await world.pass(60_000);
    world.begin('op-0.1', {}, secondKey);
    expect([installation?.at(60_000)?.apiKey, installation?.during(50_000, 70_000).length]).toEqual([secondKey, 2]);
    expect([installation?.startsIn(1, 60_000), installation?.isWanted(0)]).toEqual([1, true]);
  });

  test.each([
    ['http://cloud.sim', 'cloud'],
    ['http://other-cloud.sim/v1/', 'other-cloud'],
    ['https://api.example.com', 'api.example.com'],
    [undefined, undefined],
  ])('%s', (address, service) => expect(serviceOf(address)).toBe(service));
});

describe('what a spec implies', () => {
  const nothing = () => [undefined];

  test('a reserved address: the region by default, the configuration by an update only', () => {
    const implied = impliedObject('ReservedAddr', { metadata: 'm', endpointConfigurationID: 'ec_a' });
    if (implied === undefined) throw new Error('nothing is implied');
    const { create, content } = implied;
    expect(strange({ description: '', metadata: 'm', region: 'us' }, create)).toEqual([]);
    expect(strange({ metadata: 'n', endpoint_configuration_id: 'ec_a' }, create)).toEqual([
      'metadata',
      'endpoint_configuration_id',
    ]);
    expect([missing({ region: 'us' }, create), missing({ metadata: 'm' }, create)]).toEqual([['metadata'], []]);
    const shown = { description: 'any', metadata: 'm', region: 'us', endpoint_configuration: { id: 'ec_a' } };
    expect([different(shown, content), different({ ...shown, endpoint_configuration: null }, content)]).toEqual([
      [],
      ['endpoint_configuration_id'],
    ]);
  });

  test('text that is set empty is absent at the service', () => {
    const content = impliedObject('ReservedAddr', { metadata: '', description: '' })?.content ?? {};
    expect(different({ description: '', region: 'us' }, content)).toEqual([]);
  });

  test('lists are sets, and shown as references', () => {
    const spec = { edgeID: 'e', mutualTLS: { certificateAuthorityIDs: ['ca_b', 'ca_a'] } };
    const [module] = impliedModules('HttpsEdgeModules', spec, nothing);
    expect(module?.path).toBe('/edges/https/e/mutual_tls');
    const content = module?.content ?? {};
    expect(strange({ enabled: true, certificate_authority_ids: ['ca_a', 'ca_b'] }, content)).toEqual([]);
    const shown = (...ids: string[]) => ({
      enabled: true,
      certificate_authorities: ids.map((id) => ({ id, uri: id })),
    });
    expect([different(shown('ca_a', 'ca_b'), content), different(shown('ca_a'), content)]).toEqual([
      [],
      ['certificate_authority_ids'],
    ]);
  });

  test('what is referred to and missing implies nothing', () => {
    const webhookVerification = { provider: 'github', secretRef: { name: 's', key: 'k' } };
    const [module] = impliedModules('HttpsRouteModules', { edgeID: 'e', routeID: 'r', webhookVerification }, nothing);
    const body = { enabled: true, provider: 'github' };
    expect(missing(body, module?.content ?? {})).toEqual(['secret']);
    expect(strange({ ...body, secret: 'x' }, module?.content ?? {})).toEqual(['secret']);
  });
});

describe('disturbances', () => {
  const trouble = (at: number, name: string, options: object = {}) =>
    ({ at, do: 'trouble', name, forMs: 10_000, with: { ...options } }) as const;

  test('what touches Kubernetes makes knowledge old, and what touches the cloud does not', () => {
    const knowledge = (...acts: ReturnType<typeof trouble>[]) => new Disturbances({ acts }).knowledge(100_000, 30_000);
    expect(knowledge(trouble(80_000, 'gateway-404'), trouble(80_000, 'lost-answers', { to: 'cloud' }))).toBe(70_000);
    expect(knowledge(trouble(65_000, 'watches-lag'))).toBe(35_000);
    expect(knowledge(trouble(65_000, 'watches-lag'), trouble(30_000, 'slow-acts', { to: 'kube' }))).toBe(0);
    expect(knowledge(trouble(20_000, 'watches-lag'))).toBe(70_000);
    // While no API server is up nobody learns that it was restored.
    expect(knowledge(trouble(45_000, 'kube-restored', { downMs: 20_000 }))).toBe(15_000);
    expect(knowledge(trouble(45_000, 'kube-restored', { downMs: 10_000 }))).toBe(70_000);
  });

  test('a watch that was cut may be opened again some time after what cut it', () => {
    const cut = new Disturbances({ acts: [trouble(80_000, 'compacted')] });
    expect(cut.knowledge(100_000, 0)).toBe(100_000);
    expect(cut.knowledge(100_000, 0, 9_000)).toBe(100_000);
    expect(cut.knowledge(100_000, 0, 10_000)).toBe(80_000);
  });

  test('what concerns one key leaves the others alone, and is not over when it ends', () => {
    const disturbances = new Disturbances({ acts: [trouble(0, 'revoked-key', { key: 'k' })] });
    expect([disturbances.any(5_000, 6_000, 'k'), disturbances.any(5_000, 6_000, 'l')]).toEqual([true, false]);
    expect([disturbances.any(60_000, 60_000), disturbances.any(600_000, 600_000)]).toEqual([true, false]);
    expect(disturbances.lastOver(1_000)).toBe(370_000);
  });
});

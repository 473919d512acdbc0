import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../common/clock.ts';
import { type ServerRuntime, systemRuntime } from '../../common/runtime.ts';
import { createKubeApi, type KubeApiCore, type KubeApiCoreOptions } from './core.ts';
import { loadCrds } from './types/load-crds.ts';

const crds = loadCrds(`${import.meta.dirname}/../../../crds`);
const configmaps = '/api/v1/namespaces/default/configmaps';
const bots = '/apis/edge-operator.dev/v1alpha1/namespaces/default/botusers';

const running: { readonly core: KubeApiCore; readonly server: Server }[] = [];
afterEach(async () => {
  for (const { core, server } of running.splice(0)) {
    core.close();
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }
});

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at field by field in expectations
type Body = any;

/** Behind a plain server of the test's own. */
async function serve(options: KubeApiCoreOptions = {}) {
  const core = createKubeApi(options);
  const server = createServer(core.listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  running.push({ core, server });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const request = (path: string, init: RequestInit = {}) =>
    fetch(url + path, {
      headers: { Authorization: `Bearer ${core.token}`, 'Content-Type': 'application/json' },
      ...init,
    });
  const create = async (path: string, object: object): Promise<Body> =>
    (await request(path, { method: 'POST', body: JSON.stringify(object) })).json();
  const get = async (path: string): Promise<Body> => (await request(path)).json();
  return { core, request, create, get };
}

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
const bot = { apiVersion: 'edge-operator.dev/v1alpha1', kind: 'BotUser', metadata: { name: 'b' }, spec: { name: 'x' } };

/** Whose wall and chance are the same each time it is made. */
function scripted(): ServerRuntime {
  let count = 0;
  const uuid = () => {
    count += 1;
    return `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
  };
  return { ...systemRuntime, clock: { ...systemClock, now: () => 86_400_000 }, random: () => 0.5, uuid };
}

describe('createKubeApi', () => {
  test('takes what nests 500 levels deep, and nothing that a patch makes deeper', async () => {
    const { request, create } = await serve({ crds });
    const policies = '/apis/edge-operator.dev/v1alpha1/namespaces/default/tlsedgetrafficpolicies';
    const lists = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
    const policy = (levels: number) => ({
      apiVersion: 'edge-operator.dev/v1alpha1',
      kind: 'TlsEdgeTrafficPolicy',
      metadata: { name: `p${levels}` },
      // Those around it are three.
      spec: { edgeID: 'edgtls_1', policy: { inbound: [], x: lists(levels - 3) } },
    });
    expect((await create(policies, policy(500))).metadata).toMatchObject({ generation: 1 });
    const refused = { code: 400, message: expect.stringMatching(/exceeded max depth/) };
    expect(await create(policies, policy(501))).toMatchObject(refused);
    const patch = [{ op: 'add', path: '/spec/policy/x/0/0/0/-', value: lists(498) }];
    const headers = {
      Authorization: `Bearer ${running[0]?.core.token}`,
      'Content-Type': 'application/json-patch+json',
    };
    const answer = await request(`${policies}/p500`, { method: 'PATCH', headers, body: JSON.stringify(patch) });
    expect(await answer.json()).toMatchObject({
      code: 422,
      message: expect.stringMatching(/ patch: .*exceeded max depth/),
    });
  });

  test('serves its definitions at once', async () => {
    const { get } = await serve({ crds });
    expect((await get(bots)).items).toEqual([]);
    expect(createKubeApi({ crds }).registry.find('edge-operator.dev', 'v1alpha1', 'botusers')?.kind).toBe('BotUser');
  });

  test('the same runtime gives the same answers, to the byte', async () => {
    const seen = await Promise.all(
      [1, 2].map(async () => {
        const { core, create, request } = await serve({ crds, runtime: scripted() });
        await create(configmaps, { ...configMap(''), metadata: { generateName: 'a-' } });
        await create(bots, bot);
        const answer = await request('/apis/apiextensions.k8s.io/v1/customresourcedefinitions');
        const texts = [await answer.text(), ...core.snapshot().objects.map(([, { text }]) => text)];
        return { token: core.token, date: answer.headers.get('date'), texts };
      }),
    );
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[0]?.date).toBe('Fri, 02 Jan 1970 00:00:00 GMT');
    expect(seen[0]?.texts.some((text) => text.includes('"name":"a-rrrrr"'))).toBe(true);
  });
});

describe('a restored snapshot', () => {
  test('has the objects and the revision of then, and ends watches', async () => {
    const { core, create, get, request } = await serve();
    await create(configmaps, configMap('kept'));
    const snapshot = core.snapshot();
    const before = await get(configmaps);
    await create(configmaps, configMap('lost'));
    const watch = await request(`${configmaps}?watch=true`);
    core.restore(snapshot);
    expect((await watch.text()).match(/"ADDED"/g)).toHaveLength(2);
    expect(await get(configmaps)).toEqual(before);
    const { metadata } = await create(configmaps, configMap('next'));
    expect(Number(metadata.resourceVersion)).toBe(Number(before.metadata.resourceVersion) + 1);
  });

  test('has no history: a watch from before is told 410', async () => {
    const { core, create, get } = await serve();
    const { resourceVersion } = (await get(configmaps)).metadata;
    await create(configmaps, configMap('a'));
    core.restore(core.snapshot());
    const event = await get(`${configmaps}?watch=true&timeoutSeconds=0&resourceVersion=${resourceVersion}`);
    expect(event).toMatchObject({ type: 'ERROR', object: { code: 410 } });
  });

  test('hides writes from a watch that starts after them, until there are as many again', async () => {
    const { core, create, request } = await serve();
    const snapshot = core.snapshot();
    await create(configmaps, configMap('a'));
    const { metadata } = await create(configmaps, configMap('b'));
    core.restore(snapshot);
    const watch = await request(`${configmaps}?watch=true&resourceVersion=${metadata.resourceVersion}`);
    for (const name of ['c', 'd', 'e']) await create(configmaps, configMap(name));
    core.close();
    const events = (await watch.text()).trim().split('\n');
    expect(events.map((line) => JSON.parse(line).object.metadata.name)).toEqual(['e']);
  });

  test('is not told of by bookmarks of a watch that starts after them', async () => {
    const { core, create, request } = await serve({ bookmarkMs: 1 });
    const snapshot = core.snapshot();
    const { metadata } = await create(configmaps, configMap('a'));
    core.restore(snapshot);
    const query = `watch=true&allowWatchBookmarks=true&resourceVersion=${metadata.resourceVersion}`;
    const watch = await request(`${configmaps}?${query}`);
    const other = await request(`${configmaps}?${query.replace(/\d+$/, String(snapshot.revision))}`);
    await other.body?.getReader().read();
    core.close();
    expect(await watch.text()).toBe('');
  });

  test('can give later writes revisions that none had', async () => {
    const { core, create } = await serve();
    const snapshot = core.snapshot();
    const { metadata } = await create(configmaps, configMap('a'));
    core.restore(snapshot, 1_000);
    const after = (await create(configmaps, configMap('a'))).metadata;
    expect(Number(after.resourceVersion)).toBe(Number(metadata.resourceVersion) + 1_000);
  });

  test('has the definitions of then', async () => {
    const { core, create, request } = await serve({ crds });
    const full = core.snapshot();
    await create(bots, bot);
    const empty = createKubeApi().snapshot();
    core.restore(empty);
    expect((await request(bots)).status).toBe(404);
    core.restore(full);
    expect((await request(bots)).status).toBe(200);
  });
});

test('a path that no URL has is answered, whoever asks', async () => {
  const { request, get } = await serve();
  for (const path of ['//', '//:', '///x?y', '/%zz']) expect((await request(path, { headers: {} })).status).toBe(401);
  expect((await request('//')).status).toBe((await request('/')).status);
  expect((await request('//:/nope?x')).status).toBe(404);
  expect((await request('/api/%zz/pods')).status).toBe(400);
  expect((await get(`/${configmaps}`)).items).toEqual([]);
});

test('after compact, a watch from before is told 410 and open ones go on', async () => {
  const { core, create, get, request } = await serve();
  const { resourceVersion } = (await get(configmaps)).metadata;
  const watch = await request(`${configmaps}?watch=true`);
  await create(configmaps, configMap('a'));
  core.compact();
  const old = await get(`${configmaps}?watch=true&timeoutSeconds=0&resourceVersion=${resourceVersion}`);
  expect(old).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
  await create(configmaps, configMap('b'));
  core.close();
  expect((await watch.text()).match(/"ADDED"/g)).toHaveLength(2);
});

import { afterEach, describe, expect, test } from '@jest/globals';
import { Agent, fetch, type RequestInit } from 'undici';
import { parse } from 'yaml';
import { type KubeApiOptions, loadCrds, startKubeApi } from './server.ts';

const running: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.close()));
});

async function start(options: KubeApiOptions = {}) {
  const api = await startKubeApi(options);
  const dispatcher = new Agent({ connect: { ca: api.certificate } });
  running.push(api, dispatcher);
  const headers = { Authorization: `Bearer ${api.token}`, 'Content-Type': 'application/json' };
  const request = (path: string, init: RequestInit = {}) =>
    fetch(`${api.url}${path}`, { dispatcher, headers, ...init });
  const create = (name: string) =>
    request('/api/v1/namespaces/default/configmaps', {
      method: 'POST',
      body: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }),
    });
  return { api, request, create };
}

async function lines(response: Awaited<ReturnType<typeof fetch>>, count: number) {
  const events: { type: string; object: { code?: number; metadata: { resourceVersion?: string } } }[] = [];
  for await (const chunk of response.body ?? []) {
    const text = new TextDecoder().decode(chunk as Uint8Array);
    for (const line of text.split('\n').filter((part) => part !== '')) events.push(JSON.parse(line));
    if (events.length >= count) break;
  }
  return events;
}

const configmaps = '/api/v1/namespaces/default/configmaps';

describe('startKubeApi', () => {
  test('proves itself with the certificate that its kubeconfig carries', async () => {
    const { api, request } = await start({ token: 'secret' });
    expect((await request('/version')).status).toBe(200);
    const config = parse(api.kubeconfig());
    expect(config.clusters[0].cluster.server).toBe(api.url);
    expect(Buffer.from(config.clusters[0].cluster['certificate-authority-data'], 'base64').toString()).toBe(
      api.certificate,
    );
    expect(config.users[0].user.token).toBe('secret');
  });

  test('serves the project definitions at once', async () => {
    const { request } = await start({ crds: loadCrds(`${import.meta.dirname}/../../../crds`) });
    const { items } = (await (await request('/apis/edge-operator.dev/v1alpha1/reservedaddrs')).json()) as {
      items: unknown[];
    };
    expect(items).toEqual([]);
  });

  test('rejects a definition that it cannot serve, and a port that is taken', async () => {
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'x.y' },
      spec: {},
    };
    await expect(startKubeApi({ crds: [crd] })).rejects.toThrow('metadata.name');
    const { api } = await start();
    await expect(startKubeApi({ port: Number(new URL(api.url).port) })).rejects.toThrow('EADDRINUSE');
  });

  test('ends open watches when it closes', async () => {
    const { api, request } = await start();
    const watch = await request(`${configmaps}?watch=true`);
    const ended = watch.text().catch((error: Error) => error);
    await api.close();
    running.shift();
    expect(await ended).toBeDefined();
  });
});

describe('history', () => {
  async function forgetful(): Promise<Awaited<ReturnType<typeof start>> & { first: string }> {
    const server = await start({ historyLimit: 3 });
    const { metadata } = (await (await server.request(configmaps)).json()) as { metadata: { resourceVersion: string } };
    for (let index = 0; index < 10; index += 1) await server.create(`m${index}`);
    return { ...server, first: metadata.resourceVersion };
  }

  test('a watch from a forgotten version is told 410', async () => {
    const { request, first } = await forgetful();
    const [event] = await lines(await request(`${configmaps}?watch=true&resourceVersion=${first}`), 1);
    expect(event).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
  });

  test('so are a list at one and a page that was begun then', async () => {
    const { request, create, first } = await forgetful();
    const page = (await (await request(`${configmaps}?limit=1`)).json()) as { metadata: { continue: string } };
    for (let index = 10; index < 20; index += 1) await create(`m${index}`);
    const queries = [
      `limit=1&continue=${page.metadata.continue}`,
      `resourceVersion=${first}&resourceVersionMatch=Exact`,
    ];
    for (const query of queries) expect((await request(`${configmaps}?${query}`)).status).toBe(410);
  });
});

test('bookmarks come at their interval and carry the newest version', async () => {
  const { request, create } = await start({ bookmarkMs: 20 });
  await create('a');
  const { metadata } = (await (await request(configmaps)).json()) as { metadata: { resourceVersion: string } };
  const query = `watch=true&allowWatchBookmarks=true&resourceVersion=${metadata.resourceVersion}`;
  const [event] = await lines(await request(`${configmaps}?${query}`), 1);
  expect([event?.type, event?.object.metadata.resourceVersion]).toEqual(['BOOKMARK', metadata.resourceVersion]);
});

test('a watch is sent what there is, however much that is', async () => {
  const { request } = await start();
  const data = { text: 'x'.repeat(1_000_000) };
  const [count, end] = [70, 'initial-events-end'];
  for (let index = 0; index < count; index++) {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `large-${index}` }, data };
    await request(configmaps, { method: 'POST', body: JSON.stringify(object) });
  }
  const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  const stop = new AbortController();
  const response = await request(`${configmaps}?${query}`, { signal: stop.signal });
  let [bytes, tail] = [0, ''];
  for await (const chunk of response.body ?? []) {
    bytes += (chunk as Uint8Array).length;
    tail = (tail + new TextDecoder().decode((chunk as Uint8Array).slice(-300))).slice(-400);
    if (tail.includes(end)) break;
  }
  expect(bytes).toBeGreaterThan(count * data.text.length);
  stop.abort();
});

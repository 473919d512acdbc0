import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Agent, fetch } from 'undici';
import { main } from '../../../test/support/main.ts';
import { until } from '../../../test/support/until.ts';
import { type KubeApi, type KubeApiOptions, loadCrds, startKubeApi } from './server.ts';
import { DataError } from './store/data-error.ts';
import { DataFile } from './store/data-file.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at field by field in expectations
type Body = any;

const crds = loadCrds(join(import.meta.dirname, '../../../crds'));
const configmaps = '/api/v1/namespaces/default/configmaps';
const bots = '/apis/edge-operator.dev/v1alpha1/namespaces/default/botusers';
let dataDir: string;
const running = new Set<KubeApi>();
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'kube-data-'));
});
afterEach(async () => {
  await Promise.all([...running].map((api) => api.close()));
  running.clear();
  await rm(dataDir, { recursive: true });
});

async function start(options: KubeApiOptions = {}) {
  const api = await startKubeApi({ crds, dataDir, ...options });
  running.add(api);
  const close = async () => {
    running.delete(api);
    await api.close();
  };
  return { api, close, send: sender(api) };
}

type Send = (method: string, path: string, body?: object) => Promise<{ code: number; body: Body }>;

function sender({ url, token }: { readonly url: string; readonly token: string }): Send {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false }, pipelining: 0 });
  return async (method, path, body) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': type };
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, { method, dispatcher, headers, ...init });
    return { code: response.status, body: await response.json() };
  };
}

const configMap = (name: string, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data: { k: 'é' },
});
const bot = { apiVersion: 'edge-operator.dev/v1alpha1', kind: 'BotUser', metadata: { name: 'b' }, spec: { name: 'x' } };

describe('a data folder', () => {
  test('keeps objects with their uids and versions, the token and the certificate', async () => {
    const first = await start();
    const map = (await first.send('POST', configmaps, configMap('a'))).body;
    const created = (await first.send('POST', bots, bot)).body;
    const changed = (await first.send('PATCH', `${bots}/b`, { spec: { name: 'y' } })).body;
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const before = (await first.send('GET', definitions)).body;
    await first.close();

    const second = await start();
    expect((await second.send('GET', `${configmaps}/a`)).body).toEqual(map);
    const kept = (await second.send('GET', `${bots}/b`)).body;
    expect([kept, kept.metadata.uid]).toEqual([changed, created.metadata.uid]);
    expect((await second.send('GET', definitions)).body).toEqual(before);
    expect([second.api.token, second.api.certificate]).toEqual([first.api.token, first.api.certificate]);
    expect((await stat(join(dataDir))).mode & 0o777).toBe(0o700);
  });

  test('what a namespace that goes takes along waits while the disk is full', async () => {
    const { send } = await start();
    await send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'doomed' } });
    await send('POST', '/api/v1/namespaces/doomed/configmaps', configMap('a'));
    await send('DELETE', '/api/v1/namespaces/doomed');
    const full = jest.spyOn(DataFile.prototype, 'write').mockImplementation(() => {
      throw new DataError('cannot use kube.db: database or disk is full');
    });
    try {
      await until('a write was tried', () => full.mock.calls.length > 0);
      const refused = await send('POST', configmaps, configMap('b'));
      expect([refused.code, refused.body.message]).toEqual([500, expect.stringContaining('disk is full')]);
    } finally {
      full.mockRestore();
    }
    await until('the namespace is gone', async () => (await send('GET', '/api/v1/namespaces/doomed')).code === 404);
  });

  test('a file that is damaged is named, and ends nothing but the start', async () => {
    const first = await start();
    for (let n = 0; n < 60; n += 1) await first.send('POST', configmaps, configMap(`m${n}`));
    await first.close();
    const file = join(dataDir, 'kube.db');
    const handle = await open(file, 'r+');
    await handle.write(Buffer.alloc((await handle.stat()).size - 4_096, 0xa5), 0, undefined, 4_096);
    await handle.close();
    const failure = await start().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DataError);
    expect(String(failure)).toContain(`cannot use ${file}: `);
  });

  test("is this user's alone, also in a folder that others may look into, and where others could read it before", async () => {
    await chmod(dataDir, 0o755);
    const modes = async () => {
      const names = (await readdir(dataDir)).sort();
      const modeOf = async (name: string) => ((await stat(join(dataDir, name))).mode & 0o777).toString(8);
      return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await modeOf(name)])));
    };
    const { close } = await start();
    expect(await modes()).toEqual({ 'kube.db': '600', 'kube.db-wal': '600' });
    await close();
    await chmod(join(dataDir, 'kube.db'), 0o644);
    await start();
    expect(await modes()).toEqual({ 'kube.db': '600', 'kube.db-wal': '600' });
    expect((await stat(dataDir)).mode & 0o777).toBe(0o755);
  });

  test('goes on where it stopped, also after a delete: versions are never given twice', async () => {
    const first = await start();
    await first.send('POST', configmaps, configMap('a'));
    await first.send('DELETE', `${configmaps}/a`);
    const stopped = (await first.send('GET', configmaps)).body.metadata.resourceVersion;
    await first.close();
    for (let round = 1; round <= 2; round += 1) {
      const next = await start();
      const { items, metadata } = (await next.send('GET', configmaps)).body;
      expect([items, metadata.resourceVersion]).toEqual([[], stopped]);
      await next.close();
    }
    const last = await start();
    const { body } = await last.send('POST', configmaps, configMap('b'));
    expect(Number(body.metadata.resourceVersion)).toBe(Number(stopped) + 1);
    const query = `watch=true&timeoutSeconds=0&resourceVersion=${Number(stopped) - 1}`;
    expect((await last.send('GET', `${configmaps}?${query}`)).body).toMatchObject({
      type: 'ERROR',
      object: { code: 410 },
    });
  });

  test('a namespace that was being deleted still goes', async () => {
    const first = await start();
    await first.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } });
    const maps = '/api/v1/namespaces/n/configmaps';
    await first.send('POST', maps, configMap('held', { finalizers: ['a.b/c'] }));
    expect((await first.send('DELETE', '/api/v1/namespaces/n')).body.status.phase).toBe('Terminating');
    await first.close();
    const second = await start();
    await second.send('PATCH', `${maps}/held`, { metadata: { finalizers: null } });
    expect((await second.send('GET', '/api/v1/namespaces/n')).code).toBe(404);
  });

  test('definitions are brought up to date when they changed meanwhile', async () => {
    await (await start()).close();
    const changed = structuredClone(crds) as Body[];
    changed[0].spec.versions[0].additionalPrinterColumns = [{ name: 'X', type: 'string', jsonPath: '.spec.x' }];
    const second = await start({ crds: changed });
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${changed[0].metadata.name}`;
    const { body } = await second.send('GET', path);
    expect([body.spec.versions[0].additionalPrinterColumns[0].name, body.metadata.generation]).toEqual(['X', 2]);
  });

  test('cannot be used by two servers at once, nor be a file', async () => {
    await start();
    await expect(startKubeApi({ dataDir })).rejects.toThrow(DataError);
    await expect(startKubeApi({ dataDir: join(import.meta.dirname, 'server.ts') })).rejects.toThrow(DataError);
  });

  test('survives SIGKILL in the middle of writes: what was answered is there, and versions go on', async () => {
    const child = spawn(process.execPath, [main, 'kube', '--data', dataDir, '--kubeconfig-out', join(dataDir, 'kc')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(child.stdout, 'data');
    const url = /https:\S+/.exec(String(line))?.[0] ?? '';
    const token = /token: (\S+)/.exec(await readFile(join(dataDir, 'kc'), 'utf8'))?.[1] ?? '';
    const send = sender({ url, token });
    const answered = new Map<string, string | undefined>();
    const unanswered = new Set<string>();
    let count = 0;
    const worker = async (id: number) => {
      for (let index = 0; ; index += 1) {
        const name = `m${id}-${index}`;
        const one = `${configmaps}/${name}`;
        const writes = [
          ['POST', configmaps, configMap(name)],
          ['PATCH', one, { data: { k: 'l' } }],
          ['DELETE', one],
        ] as const;
        for (const [method, path, body] of writes.slice(0, 1 + (index % 3))) {
          unanswered.add(name);
          const answer = await send(method, path, body);
          unanswered.delete(name);
          answered.set(name, method === 'DELETE' ? undefined : answer.body.metadata.resourceVersion);
          count += 1;
          if (count === 200) child.kill('SIGKILL');
        }
      }
    };
    await Promise.allSettled(Array.from({ length: 8 }, (_, id) => worker(id)));
    for (const name of unanswered) answered.delete(name);

    const second = await start();
    const items: readonly Body[] = (await second.send('GET', configmaps)).body.items;
    const kept = new Map(items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
    expect([...answered.keys()].map((name) => [name, kept.get(name)])).toEqual([...answered]);
    expect(new Set(kept.values()).size).toBe(kept.size);
    const { metadata } = (await second.send('POST', configmaps, configMap('next'))).body;
    const highest = Math.max(...[...kept.values(), ...answered.values()].map((version) => Number(version ?? 0)));
    expect(Number(metadata.resourceVersion)).toBeGreaterThan(highest);
  });

  test('objects are shown by a schema that was changed, also after another start', async () => {
    const first = await start();
    await first.send('POST', bots, bot);
    const before = (await first.send('GET', `${bots}/b`)).body;
    await first.close();
    const changed = structuredClone(crds) as Body[];
    const { properties } = changed.find(({ spec }) => spec.names.kind === 'BotUser').spec.versions[0].schema
      .openAPIV3Schema.properties.spec;
    properties.added = { type: 'string', default: 'x' };
    for (let round = 1; round <= 2; round += 1) {
      const next = await start({ crds: changed });
      const { spec, metadata } = (await next.send('GET', `${bots}/b`)).body;
      expect([spec.added, metadata]).toEqual(['x', before.metadata]);
      await next.close();
    }
  });
});

test('plain HTTP wants the token too', async () => {
  const { api, send } = await start({ http: true });
  expect(api.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(api.kubeconfig()).not.toContain('certificate');
  expect((await send('GET', configmaps)).code).toBe(200);
  expect((await sender({ url: api.url, token: 'x' })('GET', configmaps)).code).toBe(401);
});

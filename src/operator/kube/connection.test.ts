import { once } from 'node:events';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { MockAgent } from 'undici';
import { silentLog } from '../../common/log.ts';
import { systemRuntime } from '../../common/runtime.ts';
import { KubeClient } from './client.ts';
import { connect, type KubeRequest } from './connection.ts';
import { KubeConnectionError } from './errors.ts';
import { FakeApi, status, until, widgetType } from './fake-api.fixture.ts';

let api: FakeApi;

beforeEach(async () => {
  api = await FakeApi.start();
});

afterEach(() => api.stop());

const get: KubeRequest = { method: 'GET', path: '/api/v1/things?limit=1', doing: 'getting', silenceTimeoutMs: 5_000 };
const authorization = () => api.requests.map((request) => request.headers.authorization);

test('requests carry the token, the user agent and the query', async () => {
  const connection = await api.connection({ token: 'abc\n' });
  const response = await connection.request(get);
  await response.text();
  expect(api.requests[0]).toMatchObject({
    path: '/api/v1/things',
    headers: { authorization: 'Bearer abc', 'user-agent': 'test/1' },
  });
  expect(api.requests[0]?.query.get('limit')).toBe('1');
  expect(connection).toMatchObject({ server: api.url, namespace: 'team', inCluster: false });
});

test('a 401 reads a rotated token file at once, and the request is tried once more', async () => {
  const tokenFile = join(await api.folder(), 'token');
  await writeFile(tokenFile, 'old\n');
  const connection = await api.connection({ tokenFile });
  await (await connection.request(get)).text();
  await writeFile(tokenFile, 'new\n');
  api.script(
    () => true,
    (response) => status(response, 401, 'Unauthorized'),
  );
  const response = await connection.request(get);
  await response.text();
  expect(response.status).toBe(200);
  expect(authorization()).toEqual(['Bearer old', 'Bearer old', 'Bearer new']);
});

test('a 401 that stays is answered after one more try', async () => {
  const connection = await api.connection();
  for (let time = 0; time < 3; time++)
    api.script(
      () => true,
      (response) => status(response, 401, 'Unauthorized'),
    );
  const response = await connection.request(get);
  await response.text();
  expect([response.status, api.requests.length]).toEqual([401, 2]);
});

test('an exec plugin is asked once, and again after a 401', async () => {
  const folder = await api.folder();
  const command = join(folder, 'plugin');
  const script = `#!/bin/sh
echo x >> ${folder}/runs
n=$(wc -l < ${folder}/runs | tr -d ' ')
echo "{\\"kind\\":\\"ExecCredential\\",\\"status\\":{\\"token\\":\\"token$n\\"}}"
`;
  await writeFile(command, script);
  await chmod(command, 0o755);
  const connection = await api.connection({ exec: { apiVersion: 'client.authentication.k8s.io/v1', command } });
  await (await connection.request(get)).text();
  await (await connection.request(get)).text();
  api.script(
    () => true,
    (response) => status(response, 401, 'Unauthorized'),
  );
  await (await connection.request(get)).text();
  expect(authorization()).toEqual(['Bearer token1', 'Bearer token1', 'Bearer token1', 'Bearer token2']);
});

test('credentials that cannot be read fail the request, not the process', async () => {
  const tokenFile = join(await api.folder(), 'token');
  await writeFile(tokenFile, 'abc');
  const connection = await api.connection({ tokenFile });
  await rm(tokenFile);
  await expect(connection.request(get)).rejects.toThrow(/getting: reading credentials: .*token/);
});

test('a guard is asked before every request, and its refusal sends nothing', async () => {
  const connection = await api.connection();
  let leading = true;
  const guarded = connection.withGuard(({ method }) => {
    if (!leading && method !== 'GET') throw new Error('not the leader');
  });
  await (await guarded.request({ ...get, method: 'DELETE' })).text();
  leading = false;
  await expect(guarded.request({ ...get, method: 'DELETE' })).rejects.toThrow('not the leader');
  await (await guarded.request(get)).text();
  expect(api.requests.map((request) => request.method)).toEqual(['DELETE', 'GET']);
});

test('a guard is asked once more when it is connected: what it refuses then is not sent either', async () => {
  const connection = await api.connection();
  let asked = 0;
  const guarded = connection.withGuard(() => {
    asked += 1;
    if (asked > 1) throw new Error('not the leader any more');
  });
  await expect(guarded.request({ ...get, method: 'DELETE' })).rejects.toThrow('not the leader any more');
  expect([asked, api.requests.length]).toEqual([2, 0]);
  await (await connection.request(get)).text();
  expect(api.requests).toHaveLength(1);
});

test('calls share a few connections, and over HTTP/1.1 each watch has its own', async () => {
  const client = new KubeClient(await api.connection(), systemRuntime);
  await Promise.all(Array.from({ length: 500 }, () => client.list(widgetType)));
  expect(api.connectionCount).toBeLessThanOrEqual(12);
  const calls = api.connectionCount;
  const stop = new AbortController();
  const watch = async () => {
    for await (const event of client.watch(widgetType, { signal: stop.signal })) void event;
  };
  const watches = [watch(), watch()].map((each) => each.catch((error: unknown) => error));
  await until('both watches', () => api.openWatches === 2);
  expect(api.connectionCount).toBe(calls + 2);
  stop.abort();
  for (const error of await Promise.all(watches)) expect(error).toMatchObject({ name: 'AbortError' });
});

test('a call apart does not wait for calls that hang', async () => {
  const connection = await api.connection();
  const hanging = Array.from({ length: 40 }, () => {
    api.script(
      ({ path }) => path === '/api/v1/things',
      () => {},
    );
    return connection.request({ ...get, silenceTimeoutMs: 600 }).catch((error: unknown) => error);
  });
  await until('as many to hang as there may be', () => api.requests.length === 12);
  const ended = Promise.race(hanging).then(() => 'a call that hangs has ended');
  const response = connection.apart().request({ ...get, path: '/api/v1/leases' });
  expect(await Promise.race([response, ended])).toMatchObject({ status: 200 });
  await Promise.all(hanging);
});

test('as many calls apart are made at a time as others: the Leases of many shards wait little for each other', async () => {
  const connection = (await api.connection()).apart();
  const calls = Array.from({ length: 40 }, () => {
    api.script(
      () => true,
      () => {},
    );
    return connection.request({ ...get, silenceTimeoutMs: 600 }).catch((error: unknown) => error);
  });
  const reached = until('as many as there may be', () => api.requests.length === 12).then(() => 'all at a time');
  const ended = Promise.race(calls).then(() => 'some had to wait for others');
  expect(await Promise.race([reached, ended])).toBe('all at a time');
  await Promise.all([reached, ...calls]);
});

test('no answer is a timeout, and a refused connection names the request', async () => {
  const connection = await api.connection();
  api.script(
    () => true,
    () => {},
  );
  const silent = await connection.request({ ...get, silenceTimeoutMs: 100 }).catch((error: unknown) => error);
  expect(silent).toBeInstanceOf(KubeConnectionError);
  expect(silent).toMatchObject({ timedOut: true });
  await api.stop();
  const refused = await (
    await FakeApi.start().then(async (other) => {
      const theirs = await other.connection();
      await other.stop().catch(() => {});
      return theirs;
    })
  )
    .request(get)
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(KubeConnectionError);
  expect(String(refused)).toContain('getting: ');
  api = await FakeApi.start();
});

test('closing ends watches', async () => {
  const connection = await api.connection();
  const client = new KubeClient(connection, systemRuntime);
  const watching = (async () => {
    for await (const event of client.watch(widgetType)) void event;
  })();
  watching.catch(() => {});
  await until('the watch', () => api.openWatches === 1);
  await connection.close();
  await expect(watching).rejects.toBeInstanceOf(KubeConnectionError);
});

test('watches that are told to end do so at once, though the server never let them connect', async () => {
  const sockets: Socket[] = [];
  const mute = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
  await once(mute, 'listening');
  const { port } = mute.address() as AddressInfo;
  const connection = await api.connection(undefined, undefined, `https://127.0.0.1:${port}`);
  const stop = new AbortController();
  const watches = [1, 2, 3].map(() => connection.request({ ...get, watch: true, signal: stop.signal }));
  const ends = Promise.all(watches.map((watch) => watch.catch((error: Error) => error.name)));
  await once(mute, 'connection');
  stop.abort();
  const ended = await Promise.race([ends, once(AbortSignal.timeout(2_000), 'abort').then(() => 'still waiting')]);
  await connection.close();
  for (const socket of sockets) socket.destroy();
  mute.close();
  expect(ended).toEqual(['AbortError', 'AbortError', 'AbortError']);
});

test('a dispatcher that is given carries calls and watches, and is left open', async () => {
  const dispatcher = new MockAgent();
  dispatcher.disableNetConnect();
  dispatcher.get('http://kube').intercept({ path: get.path }).reply(200, 'from memory').times(2);
  const named = [{ name: 'x', context: { cluster: 'x' }, cluster: { server: 'http://kube' } }];
  const config = { 'current-context': 'x', contexts: named, clusters: named };
  const files: string[] = [];
  const readFile = async (path: string) => {
    files.push(path);
    return JSON.stringify(config);
  };
  const runtime = { ...systemRuntime, dispatcher, readFile };
  const connection = await connect({ ...runtime, kubeconfig: 'nowhere', userAgent: 'x', log: silentLog });
  expect(await (await connection.request(get)).text()).toBe('from memory');
  await connection.close();
  const watched = await connection.apart().request({ ...get, watch: true });
  expect(await watched.text()).toBe('from memory');
  expect(new Set(files)).toEqual(new Set(['nowhere']));
  await dispatcher.close();
});

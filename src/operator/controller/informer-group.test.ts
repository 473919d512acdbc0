import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Log, silentLog } from '../../common/log.ts';
import { systemRuntime } from '../../common/runtime.ts';
import { FakeApi, status, until, type Widget, widgetType } from '../kube/fake-api.fixture.ts';
import { Informer } from './informer.ts';
import { InformerGroup } from './informer-group.ts';

let api: FakeApi;
let stop: AbortController;
let running: Promise<void>;

beforeEach(async () => {
  api = await FakeApi.start();
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await running;
  await api.stop();
});

async function start(namespaces: readonly string[], log: Log = silentLog): Promise<InformerGroup<Widget>> {
  const client = await api.client();
  const shared = { ...systemRuntime, client, type: widgetType, log, backoff: { minMs: 10, maxMs: 40 } };
  const group = new InformerGroup(namespaces.map((namespace) => new Informer<Widget>({ ...shared, namespace })));
  running = group.run(stop.signal);
  return group;
}

function refuse(namespace: string, times: number): void {
  const isIn = ({ path }: { readonly path: string }) => path.includes(`/namespaces/${namespace}/`);
  for (let time = 0; time < times; time++) api.script(isIn, (response) => status(response, 403, 'Forbidden'));
}

test('a namespace that may not be read holds up no other, and is followed once it may', async () => {
  api.put('a');
  refuse('gone', 20);
  const group = await start(['default', 'gone']);
  await group.whenSynced(stop.signal);
  expect(group.synced).toBe(true);
  expect(group.get('default/a')).toBeDefined();
  expect(group.refused).toEqual(['gone']);
  await until('the other watch', () => api.openWatches === 2, 10_000);
  await until('it to be no refusal any more', () => group.refused.length === 0);
});

test('a namespace that may not be read any more is told of once, and keeps what was seen of it', async () => {
  api.put('a');
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => void warnings.push(message), child: () => log };
  const group = await start(['default'], log);
  await group.whenSynced(stop.signal);
  refuse('default', 5);
  api.dropWatches();
  await until('the refusal', () => group.refused.length > 0);
  await until('it to be tried again', () => api.openWatches === 1);
  api.bookmark();
  await until('it to be no refusal any more', () => group.refused.length === 0);
  expect(warnings).toEqual([expect.stringMatching(/^may not be read/)]);
  expect([group.synced, group.get('default/a')?.metadata.name]).toEqual([true, 'a']);
});

test('where nothing may be read nothing is synced', async () => {
  refuse('gone', 5);
  const group = await start(['gone']);
  await until('some refusals', () => api.requests.length > 2);
  expect(group.synced).toBe(false);
  await group.whenSynced(stop.signal);
  expect(group.synced).toBe(true);
});

test('a type that is not served any more is missing, with one line, until it is served again', async () => {
  api.put('a');
  const lines: string[] = [];
  const tell = (message: string) => void lines.push(message);
  const log: Log = { ...silentLog, warn: tell, info: tell, child: () => log };
  const group = await start(['default'], log);
  await group.whenSynced(stop.signal);
  expect(group.missing).toBe(false);
  for (let time = 0; time < 6; time++)
    api.script(
      () => true,
      (response) => response.writeHead(404).end('404 page not found\n'),
    );
  api.dropWatches();
  await until('it to be missing', () => group.missing);
  expect([group.synced, group.get('default/a')?.metadata.name]).toEqual([true, 'a']);
  await until('it to be served again', () => !group.missing);
  expect(lines).toEqual(['watching failed; will try again', 'watching again']);
});

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Log, silentLog } from '../../common/log.ts';
import { type FakeApi, isWatch, json, type SeenRequest, status, until } from '../kube/fake-api.fixture.ts';
import { Watched } from './watched.fixture.ts';

let watched: Watched;
let api: FakeApi;

beforeEach(async () => {
  watched = await Watched.start();
  api = watched.api;
});

afterEach(() => watched.close());

const isList = (request: SeenRequest) => !isWatch(request);

describe('the first list', () => {
  test('is streamed where the server can', async () => {
    api.put('a', { spec: { size: 1 } });
    const { informer, told } = await watched.synced();
    expect(told).toEqual(['add a 1 initial']);
    expect(informer.get('default/a')).not.toHaveProperty('metadata.managedFields');
    expect(api.requests).toHaveLength(1);
    expect(api.requests[0]?.query.get('allowWatchBookmarks')).toBe('true');
    const timeout = Number(api.requests[0]?.query.get('timeoutSeconds'));
    expect(timeout).toBeGreaterThanOrEqual(300);
    expect(timeout).toBeLessThanOrEqual(600);
  });

  test('is read in pages where the server refuses', async () => {
    api.streamsLists = false;
    for (const name of ['a', 'b', 'c', 'd', 'e']) api.put(name);
    const { informer } = await watched.synced({ pageSize: 2, labelSelector: 'shard=1' });
    expect(informer.list()).toHaveLength(5);
    expect(informer.list()[0]).toMatchObject({ apiVersion: 'example.dev/v1', kind: 'Widget' });
    expect(api.requests.filter(isList).map((request) => request.query.get('continue'))).toEqual([null, '2', '4']);
    expect(api.requests.every((request) => request.query.get('labelSelector') === 'shard=1')).toBe(true);
  });

  test('is read in pages where the server ends the stream early', async () => {
    api.put('a');
    api.script(isWatch, (response) => response.writeHead(200).end());
    const { informer } = await watched.synced();
    expect(informer.list()).toHaveLength(1);
    expect(api.requests.filter(isList)).toHaveLength(1);
  });

  test('is read in pages where the stream is cut off midway', async () => {
    api.put('a');
    const event = { type: 'ADDED', object: { kind: 'Widget', metadata: { name: 'a', resourceVersion: '1' } } };
    const cutOff = (request: SeenRequest) => request.query.get('sendInitialEvents') === 'true';
    for (let time = 0; time < 3; time++)
      api.script(cutOff, (response) => {
        response.writeHead(200).write(`${JSON.stringify(event)}\n`, () => response.destroy());
      });
    const { informer } = await watched.synced();
    expect(informer.list()).toHaveLength(1);
    expect(api.requests.filter(isList)).toHaveLength(1);
    expect(api.requests.filter(cutOff)).toHaveLength(1);
  });

  test.each<[string, (response: Parameters<Parameters<FakeApi['script']>[1]>[0]) => void]>([
    [
      '429 with Retry-After, as on a new CRD',
      (response) => status(response, 429, 'TooManyRequests', { 'retry-after': '0' }),
    ],
    ['503', (response) => status(response, 503, 'ServiceUnavailable')],
    ['500', (response) => status(response, 500, 'InternalError')],
    ['403', (response) => status(response, 403, 'Forbidden')],
    ['404 before the CRD is there', (response) => status(response, 404, 'NotFound')],
    ['HTML of a proxy', (response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad</h1>')],
    ['a reset', (response) => response.socket?.resetAndDestroy()],
    ['garbage', (response) => response.writeHead(200).end('surprise\n')],
  ])('survives %s', async (_what, answer) => {
    api.put('a');
    for (let time = 0; time < 3; time++) api.script(() => true, answer);
    const { informer } = await watched.synced();
    expect(informer.list()).toHaveLength(1);
  });

  test('of a kind that the server does not know says what to look for', async () => {
    const hints: unknown[] = [];
    const log: Log = { ...silentLog, warn: (_, fields) => void hints.push(fields?.hint), child: () => log };
    for (let time = 0; time < 4; time++)
      api.script(
        () => true,
        (response) => response.writeHead(404).end('404 page not found\n'),
      );
    await watched.synced({ log });
    expect(hints).toContain('is its CustomResourceDefinition installed?');
  });

  test('survives 401, reading the credentials again', async () => {
    for (let time = 0; time < 2; time++)
      api.script(
        () => true,
        (response) => status(response, 401, 'Unauthorized'),
      );
    const { informer } = await watched.synced();
    expect(informer.synced).toBe(true);
  });
});

describe('a watch', () => {
  test('tells what changes', async () => {
    const { told } = await watched.synced();
    api.put('a', { spec: { size: 1 } });
    api.put('a', { spec: { size: 2 } });
    api.put('a', { spec: { size: 3 } }, { uid: 'another' });
    api.remove('a');
    await until('all events', () => told.length === 5);
    expect(told).toEqual(['add a 1', 'update a 2', 'delete a 2', 'add a 3', 'delete a 3']);
  });

  test.each(['end', 'reset'] as const)('is resumed where it stopped after its %s', async (how) => {
    const { told } = await watched.synced();
    api.put('a', { spec: { size: 1 } });
    await until('the event', () => told.length === 1);
    const { resourceVersion } = api.put('a', { spec: { size: 2 } }).metadata;
    await until('the update', () => told.length === 2);
    api.dropWatches(how);
    await until('the next watch', () => api.watchRequests().length === 2 && api.openWatches === 1);
    expect(api.watchRequests()[1]?.query.get('resourceVersion')).toBe(resourceVersion);
    api.put('b', { spec: { size: 3 } });
    await until('an event of the next watch', () => told.at(-1) === 'add b 3');
    expect(api.requests.filter(isList)).toEqual([]);
  });

  test('is resumed from a bookmark', async () => {
    await watched.synced();
    api.bookmark();
    const { resourceVersion } = api.put('a').metadata;
    api.dropWatches();
    await until('the next watch', () => api.watchRequests().length === 2);
    expect(api.watchRequests()[1]?.query.get('resourceVersion')).toBe(resourceVersion);
  });

  test.each<[string, (api: FakeApi) => void]>([
    [
      'an ERROR event 410',
      () => api.emit({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } }),
    ],
    [
      'HTTP 410',
      () => {
        api.script(isWatch, (response) => status(response, 410, 'Expired'));
        api.dropWatches();
      },
    ],
    [
      'an ERROR event of an invalid request',
      () => api.emit({ type: 'ERROR', object: { kind: 'Status', code: 400, message: 'no' } }),
    ],
  ])('lists again after %s, finding what was deleted meanwhile', async (_what, happens) => {
    api.put('a', { spec: { size: 1 } });
    api.put('b', { spec: { size: 1 } });
    const { told, informer } = await watched.synced();
    api.remove('a', false);
    happens(api);
    await until('the delete', () => told.includes('delete a 1'));
    expect(informer.list()).toHaveLength(1);
    expect(told).toHaveLength(3);
  });

  test('goes on from the same point after an ERROR event that passes', async () => {
    const { told } = await watched.synced();
    api.emit({ type: 'ERROR', object: { kind: 'Status', code: 500, message: 'etcd is busy' } });
    await until('the next watch', () => api.watchRequests().length === 2 && api.openWatches === 1);
    expect(api.watchRequests()[1]?.query.has('sendInitialEvents')).toBe(false);
    api.put('a', { spec: { size: 1 } });
    await until('the event', () => told.includes('add a 1'));
  });

  test('lists again when the point to go on from fails again and again', async () => {
    api.put('a');
    const { informer } = await watched.synced();
    const failed = { type: 'ERROR', object: { kind: 'Status', code: 500, message: 'cannot decode an event' } };
    const goesOn = (request: SeenRequest) => isWatch(request) && !request.query.has('sendInitialEvents');
    for (let time = 0; time < 100; time++)
      api.script(goesOn, (response) => response.writeHead(200).end(`${JSON.stringify(failed)}\n`));
    api.remove('a', false);
    api.emit(failed);
    await until('the delete', () => informer.list().length === 0);
  });

  test('that falls silent is replaced', async () => {
    const { told } = await watched.synced({ silenceTimeoutMs: 300 });
    await until('the next watch', () => api.watchRequests().length >= 2);
    await until('it is open', () => api.openWatches === 1);
    api.put('a', { spec: { size: 1 } });
    await until('the event', () => told.includes('add a 1'));
  });

  const bookmark = { type: 'BOOKMARK', object: { kind: 'Widget', metadata: { resourceVersion: '1000' } } };

  test.each([
    ['and tells nothing', ''],
    ['and tells of no change', `${JSON.stringify(bookmark)}\n`],
  ])('that always ends at once %s is not hammered', async (_, body) => {
    const { informer } = await watched.synced({ backoff: { minMs: 50, maxMs: 50 } });
    for (let time = 0; time < 100; time++) api.script(isWatch, (response) => response.writeHead(200).end(body));
    api.dropWatches();
    const before = api.watchRequests().length;
    const startedAt = Date.now();
    await until('some more watches', () => api.watchRequests().length >= before + 4);
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(145);
    expect(informer.synced).toBe(true);
  });

  test.each([
    ['at once', ''],
    ['as soon as it told something', `${JSON.stringify(bookmark)}\n`],
  ])('that is too old again and again, %s, is not answered by a list each time at once', async (_, before) => {
    api.streamsLists = false;
    await watched.synced({ backoff: { minMs: 50, maxMs: 50 } });
    const tooOld = { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } };
    for (let time = 0; time < 100; time++)
      api.script(isWatch, (response) => response.writeHead(200).end(`${before}${JSON.stringify(tooOld)}\n`));
    const lists = api.requests.filter(isList).length;
    const startedAt = Date.now();
    api.dropWatches();
    await until('some more lists', () => api.requests.filter(isList).length >= lists + 4);
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(145);
  });
});

test('a list whose pages expire on the way begins again', async () => {
  api.streamsLists = false;
  for (const name of ['a', 'b', 'c']) api.put(name);
  api.script(
    (request) => request.query.has('continue'),
    (response) => status(response, 410, 'Expired'),
  );
  const { informer } = await watched.synced({ pageSize: 2 });
  expect(informer.list()).toHaveLength(3);
  expect(api.requests.filter(isList).map((request) => request.query.get('continue'))).toEqual([null, '2', null, '2']);
});

test('an answer that is no list is survived', async () => {
  api.streamsLists = false;
  api.script(isList, (response) => json(response, 200, { hello: 'world' }));
  const { informer } = await watched.synced();
  expect(informer.synced).toBe(true);
});

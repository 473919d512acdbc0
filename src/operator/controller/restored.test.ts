import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../common/clock.ts';
import { type FakeApi, isWatch, until, type Widget, widgetType } from '../kube/fake-api.fixture.ts';
import { Watched } from './watched.fixture.ts';

/* Watches of a server whose state is that of a backup: another history, in which versions come again. */

let watched: Watched;
let api: FakeApi;

beforeEach(async () => {
  watched = await Watched.start();
  api = watched.api;
});

afterEach(() => watched.close());

describe('a watch', () => {
  test('believes a server that has gone back in time', async () => {
    api.put('a', { spec: { size: 1 } });
    const { informer, told } = await watched.synced();
    api.remove('a', false);
    api.rewind(10);
    api.put('b', { spec: { size: 2 } });
    api.emit({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
    await until('the restored state', () => informer.get('default/a') === undefined);
    api.put('b', { spec: { size: 3 } });
    await until('a later change', () => told.includes('update b 3'));
  });

  /** Of an object that is in the backup, and has gone since. */
  async function backedUp(options: Parameters<Watched['synced']>[0] = {}) {
    api.put('a', { spec: { size: 1 } });
    const { informer } = await watched.synced(options);
    const restore = api.backup();
    api.remove('a');
    await until('it to go', () => informer.get('default/a') === undefined);
    return { restore, isBack: () => informer.get('default/a') !== undefined };
  }

  const down: Parameters<FakeApi['script']>[1] = (response) => response.writeHead(503).end();
  const gone: Parameters<FakeApi['script']>[1] = (response) => response.destroy();

  test('believes a server that has gone back in time, whatever it told of that', async () => {
    const { restore, isBack } = await backedUp();
    api.rewind(1_000_000);
    api.bookmark();
    api.script(isWatch, down);
    restore();
    api.rewind(200);
    await until('it to come back', isBack);
  });

  test('that tells of an older version than it was resumed at is of another history', async () => {
    const { restore, isBack } = await backedUp();
    api.rewind(1_000_000);
    api.bookmark();
    restore();
    await until('the next watch', () => api.watchRequests().length === 2 && api.openWatches === 1);
    api.rewind(200);
    api.bookmark();
    await until('it to come back', isBack);
  });

  test('that was resumed at a version which came again tells nothing of that: an object that is read shows it', async () => {
    api.put('a', { spec: { size: 1 } });
    const { informer, told } = await watched.synced();
    const restore = api.backup();
    api.put('a', { spec: { size: 2 } });
    await until('the change', () => told.includes('update a 2'));
    const known = informer.get('default/a') as Widget;
    restore();
    for (const name of ['b', 'c']) api.put(name, { spec: { size: 3 } });
    await until('the next watch', () => api.watchRequests().length === 2 && api.openWatches === 1);
    expect(informer.get('default/a')?.spec).toEqual({ size: 2 });
    const client = await api.client();
    informer.learn((await client.get<Widget>(widgetType, known.metadata)) as Widget, known);
    await until('what came back', () => informer.get('default/a')?.spec?.size === 1);
    api.put('a', { spec: { size: 4 } });
    await until('a later change', () => told.includes('update a 4'));
  });

  test('that was cut for that streams its list to the end, however often it is found meanwhile', async () => {
    const known = api.put('a', { spec: { size: 1 } });
    const { informer } = await watched.synced();
    const older = { ...known, metadata: { ...known.metadata, resourceVersion: '1' } };
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const rest = { type: 'BOOKMARK', object: { metadata: { resourceVersion: '9', annotations } } };
    const begun = Promise.withResolvers<() => void>();
    api.script(isWatch, (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(`${JSON.stringify({ type: 'ADDED', object: known })}\n`);
      begun.resolve(() => response.end(`${JSON.stringify(rest)}\n`));
    });
    informer.learn(older, known);
    const end = await begun.promise;
    informer.learn(older, known);
    end();
    await until('the next watch', () => api.openWatches === 1);
    expect(api.requests.filter((request) => !isWatch(request))).toEqual([]);
  });

  test('that was resumed at a version which came again tells nothing of that: what is read and not there goes', async () => {
    api.put('a', { spec: { size: 1 } });
    const client = await api.client();
    const { informer, told } = await watched.synced({ client });
    const restore = api.backup();
    const known = api.put('b');
    await until('the new one', () => told.includes('add b -'));
    restore();
    for (const name of ['c', 'd']) api.put(name, { spec: { size: 3 } });
    await until('the next watch', () => api.watchRequests().length === 2 && api.openWatches === 1);
    expect(await client.get<Widget>(widgetType, known.metadata)).toBeUndefined();
    informer.learn(undefined, known);
    expect([informer.get('default/b'), told.at(-1), client.history.era]).toEqual([undefined, 'delete b -', 1]);
    informer.learn(undefined, known);
    expect([told.filter((each) => each === 'delete b -'), client.history.era]).toEqual([['delete b -'], 1]);
    api.dropWatches('end');
    await until('what was made before the watch began', () => told.includes('add c 3'));
  });

  test('is not resumed where anybody found the server away for a while: its end may have come late', async () => {
    const client = await api.client();
    const { restore, isBack } = await backedUp({ client });
    client.history.doubt(client.history.era);
    restore();
    for (const name of ['b', 'c']) api.put(name);
    await until('it to come back', isBack);
  });

  test('that a list has shown to be of another history lets no other be resumed', async () => {
    const client = await api.client();
    await backedUp({ client });
    api.rewind(1_000_000);
    api.bookmark();
    expect(client.history.era).toBe(0);
    api.rewind(200);
    api.emit({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
    await until('the list', () => client.history.era === 1);
  });

  test('believes a server that has what our own write ended, and that never told of that end', async () => {
    api.put('a', { spec: { size: 1 } });
    const { informer } = await watched.synced();
    const known = informer.get('default/a') as Widget;
    const deletionTimestamp = '2030-01-01T00:00:00Z';
    await informer.write('default/a', async () => ({ ...known, metadata: { ...known.metadata, deletionTimestamp } }));
    expect(informer.get('default/a')).toBeUndefined();
    api.rewind(1_000_000);
    api.emit({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
    await until('it to come back', () => informer.get('default/a')?.spec?.size === 1);
  });

  test('that ends again before it has told anything is not resumed: the server may have been restored meanwhile', async () => {
    const { restore, isBack } = await backedUp();
    api.script(isWatch, (response) => response.writeHead(200).end());
    restore();
    api.put('b');
    api.put('c');
    await until('it to come back', isBack);
  });

  test.each(['end', 'reset', 'error'] as const)(
    'that ended by %s while the process stood still is not resumed: the server may have been restored meanwhile',
    async (how) => {
      let lostMs = 0;
      const monotonic = { ...systemClock, now: () => performance.now() + lostMs };
      const { restore, isBack } = await backedUp({ monotonic });
      lostMs = 26_000;
      if (how === 'error') api.emit({ type: 'ERROR', object: { kind: 'Status', code: 500, message: 'shutting down' } });
      restore(how === 'reset' ? how : 'end');
      await until('it to come back', isBack);
    },
  );

  test('that ended before the process stood still is not resumed after it', async () => {
    let lostMs = 0;
    let standStill = () => {};
    const monotonic = {
      ...systemClock,
      now: () => performance.now() + lostMs,
      sleep: (ms: number, signal?: AbortSignal) => {
        standStill();
        return systemClock.sleep(ms, signal);
      },
    };
    const { restore, isBack } = await backedUp({ monotonic });
    standStill = () => {
      standStill = () => {};
      lostMs = 26_000;
      restore();
    };
    api.dropWatches('reset');
    await until('it to come back', isBack);
  });

  test.each([
    ['that is down', down],
    ['that cannot be reached', gone],
  ])('is not resumed at a server %s for a while: it may be restored from a backup', async (_, answer) => {
    api.put('a', { spec: { size: 1 } });
    api.put('b', { spec: { size: 1 } });
    const { informer, told } = await watched.synced();
    const restore = api.backup();
    api.put('a', { spec: { size: 2 } });
    api.remove('b');
    await until('the changes', () => told.includes('delete b 1') && told.includes('update a 2'));
    api.script(isWatch, answer);
    restore();
    api.put('c', { spec: { size: 3 } });
    await until('what came back', () => informer.get('default/b') !== undefined);
    expect(informer.list().map(({ spec }) => spec?.size)).toEqual([1, 1, 3]);
    api.put('b', { spec: { size: 4 } });
    await until('a later change', () => told.includes('update b 4'));
  });
});

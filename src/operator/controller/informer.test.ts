import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Log, silentLog } from '../../common/log.ts';
import { type FakeApi, until, type Widget, widgetType } from '../kube/fake-api.fixture.ts';
import type { KubeObject } from '../kube/types.ts';
import { Watched } from './watched.fixture.ts';

let watched: Watched;
let api: FakeApi;

beforeEach(async () => {
  watched = await Watched.start();
  api = watched.api;
});

afterEach(() => watched.close());

describe('handlers', () => {
  test('may fail without harm, and are told of what is cached when they come late', async () => {
    const errors: string[] = [];
    const log: Log = { ...silentLog, error: (message) => void errors.push(message), child: () => log };
    const { informer, told } = await watched.synced({ log });
    informer.onChange(() => {
      throw new Error('broken handler');
    });
    informer.onChange(async () => Promise.reject(new Error('broken later')));
    api.put('a', { spec: { size: 1 } });
    api.put('b', { spec: { size: 1 } });
    await until('events', () => told.length === 2);
    const late: string[] = [];
    informer.onChange(({ type, object, initial }) => late.push(`${type} ${object.metadata.name} ${initial}`));
    expect(late).toEqual(['add a true', 'add b true']);
    api.remove('a');
    await until('the delete', () => told.length === 3);
    expect(late.slice(2)).toEqual(['delete a false']);
    expect(errors.length).toBeGreaterThanOrEqual(4);
  });

  test('are not told of our own writes, unless they ask', async () => {
    api.put('a', { spec: { size: 1 } });
    const client = await api.client();
    const { informer, told } = await watched.synced();
    const own: string[] = [];
    informer.onChange(({ object }) => own.push(String(object.status?.seen)), { ownWrites: true });
    for (let seen = 1; seen <= 20; seen++) {
      const patch = { type: 'merge', body: { status: { seen } } } as const;
      await informer.write('default/a', () => client.patch(widgetType, { namespace: 'default', name: 'a' }, patch));
      expect(informer.get('default/a')?.status?.seen).toBe(seen);
    }
    api.put('b');
    await until('a later event', () => told.includes('add b -'));
    expect(told).toEqual(['add a 1 initial', 'add b -']);
    expect(own).toHaveLength(22);
  });

  test('are told of a change by others during our own write', async () => {
    api.put('a', { spec: { size: 1 } });
    const client = await api.client();
    const { informer, told } = await watched.synced();
    await informer.write('default/a', async () => {
      api.put('a', { spec: { size: 2 } });
      const patch = { type: 'merge', body: { status: { seen: 1 } } } as const;
      const written = await client.patch<Widget>(widgetType, { namespace: 'default', name: 'a' }, patch);
      expect(told).toHaveLength(1);
      return written;
    });
    await until('the change', () => told.includes('update a 2'));
    expect(informer.get('default/a')).toMatchObject({ spec: { size: 2 }, status: { seen: 1 } });
  });

  test('are told of a change by others that was read before our own write, of which the server tells no more', async () => {
    api.put('a', { spec: { size: 1 } });
    const { informer, told } = await watched.synced();
    const before = informer.get('default/a') as Widget;
    informer.learn({ ...before, metadata: { ...before.metadata, resourceVersion: '999' }, spec: { size: 2 } }, before);
    expect(told).toEqual(['add a 1 initial', 'update a 2']);
    informer.learn(before, before);
    expect(told).toHaveLength(2);
  });

  test('hear of a namesake that took the place during our own write, which then is what is read', async () => {
    api.put('a', { spec: { size: 1 } });
    const client = await api.client();
    const { informer, told } = await watched.synced();
    const seen = await informer.write('default/a', async () => {
      api.remove('a');
      api.put('a', { spec: { size: 2 } });
      api.put('b');
      await until('all events', () => told.includes('add b -'));
      const patch = { type: 'merge', body: { status: { seen: 1 } } } as const;
      return client.patch<Widget>(widgetType, { namespace: 'default', name: 'a' }, patch);
    });
    expect(informer.get('default/a')?.metadata.resourceVersion).toBe(seen.metadata.resourceVersion);
    expect(told.slice(2, 4)).toEqual(['delete a 1', 'add a 2']);
  });

  test('hear of what was kept back when the write fails', async () => {
    api.put('a', { spec: { size: 1 } });
    const { informer, told } = await watched.synced();
    const failing = informer.write('default/a', async () => {
      api.put('a', { spec: { size: 2 } });
      throw new Error('no answer');
    });
    await expect(failing).rejects.toThrow('no answer');
    await until('the change', () => told.includes('update a 2'));
  });
});

test('transform decides what is stored, and whenSynced ends with its signal', async () => {
  const { informer } = await watched.synced({ transform: ({ spec: _, ...rest }) => rest });
  api.put('a', { spec: { size: 1 } });
  await until('the object', () => informer.get('default/a') !== undefined);
  expect(informer.get('default/a')).not.toHaveProperty('spec');
  const other = await watched.informer();
  await expect(other.whenSynced(AbortSignal.timeout(20))).rejects.toThrow();
});

test('of a list that shows nothing new no more is held than of the first', async () => {
  api.streamsLists = false;
  for (const name of ['a', 'b']) api.put(name, { spec: { size: 1 } });
  const client = await api.client();
  const lists: (readonly Widget[])[] = [];
  const transform = ({ spec: _, ...rest }: Widget): Widget => rest;
  const listAll = client.listAll.bind(client);
  client.listAll = async <T extends KubeObject>(...given: Parameters<typeof listAll<T>>) => {
    const list = await listAll<T>(...given);
    lists.push(list.items as unknown as readonly Widget[]);
    return list;
  };
  await watched.synced({ client, transform });
  api.emit({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
  await until('another list', () => lists.length === 2);
  expect(lists.map((items) => items.map(({ metadata, spec }) => [metadata.name, spec]))).toEqual(
    Array(2).fill([
      ['a', undefined],
      ['b', undefined],
    ]),
  );
});

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { until } from '../../../../test/support/until.ts';
import { silentLog } from '../../../common/log.ts';
import { systemRuntime } from '../../../common/runtime.ts';
import type { KubeClient, Selection } from '../../kube/client.ts';
import { KubeConnectionError, KubeError } from '../../kube/errors.ts';
import type { ObjectMeta, ResourceType } from '../../kube/types.ts';
import { holderFinalizer } from '../resource/annotations.ts';
import { References } from './references.ts';
import { Referents } from './referents.ts';
import type { DataObject } from './values.ts';

/* One Secret or ConfigMap at a time, whose changes are told by hand. */

let stored: Map<string, DataObject>;
let failure: Error | undefined;
let reads: number;
let version: number;
let referents: Referents;
let references: References;
let woken: string[];

beforeEach(() => {
  stored = new Map();
  [failure, reads, version, woken] = [undefined, 0, 0, []];
  referents = new Referents({ ...systemRuntime, reader: client(), log: silentLog, namespaces: [] });
  references = new References({
    referents,
    enqueue: (user, initial) => woken.push(initial ? `${user} initial` : user),
  });
});
afterEach(() => {
  references.close();
  referents.close();
});

function client(): KubeClient {
  const list = async (_: ResourceType, { namespace, fieldSelector = '', metadataOnly }: Selection) => {
    if (metadataOnly !== true) reads++;
    if (failure !== undefined) throw failure;
    const object = stored.get(`${namespace}/${fieldSelector.replace('metadata.name=', '')}`);
    return { items: object === undefined ? [] : [object], resourceVersion: '1' };
  };
  const watch = async function* (_: ResourceType, { signal }: { readonly signal: AbortSignal }) {
    await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  return { list, watch } as unknown as KubeClient;
}

function put(name: string, data: Readonly<Record<string, string>>, more: Partial<ObjectMeta> = {}): string {
  const resourceVersion = String(++version);
  const metadata = { namespace: 'a', name, uid: 'u', resourceVersion, ...more };
  stored.set(`a/${name}`, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
  return resourceVersion;
}

const change = (name: string, data: Readonly<Record<string, string>>, more?: Partial<ObjectMeta>) =>
  referents.at('ConfigMap', 'a', name).changed(put(name, data, more));

async function read(user: string, name: string, key = 'k'): Promise<string> {
  const session = references.session(user);
  try {
    return await session.read({ kind: 'ConfigMap', name, key });
  } finally {
    session.end();
  }
}

test('of an object only the key that is referred to is kept, and only its change wakes', async () => {
  put('big', { k: 'v', other: 'x'.repeat(1_000_000) });
  expect(await read('a/one', 'big')).toBe('v');
  change('big', { k: 'v', other: 'y' });
  await until('the second read', () => reads === 2);
  change('big', { k: 'w', other: 'y' });
  await until('the news', () => woken.includes('a/one'));
  expect(woken).toEqual(['a/one initial', 'a/one']);
  expect(await read('a/one', 'big')).toBe('w');
  expect(reads).toBe(3);
});

test('a long value is read anew whenever it is needed, and refused where it is too long', async () => {
  put('long', { k: 'x'.repeat(60_000) });
  expect(await read('a/one', 'long')).toHaveLength(60_000);
  expect(await read('a/one', 'long')).toHaveLength(60_000);
  expect(reads).toBe(3);
  expect(() => referents.at('ConfigMap', 'a', 'long').read('k')).toThrow('is 60000 bytes long; at most 4096 are taken');
  change('long', { k: 'x'.repeat(70_000) });
  await until('the news', () => woken.includes('a/one'));
  await expect(read('a/one', 'long')).rejects.toThrow('is 70000 bytes long; at most 65536 are taken');
});

test.each(['short', 'x'.repeat(60_000)])(
  'what was read is known to have changed without being read again',
  async (k) => {
    put('one', { k, other: 'y' });
    const session = references.session('a/one');
    await session.read({ kind: 'ConfigMap', name: 'one', key: 'k' });
    session.end();
    const before = reads;
    change('one', { k, other: 'z' });
    await until('the second read', () => reads > before);
    expect(session.hasChanged()).toBe(false);
    change('one', { k: `${k}y`, other: 'z' });
    await until('the news', () => woken.includes('a/one'));
    expect(session.hasChanged()).toBe(true);
    expect(reads).toBe(before + 2);
  },
);

test('another key of the same object is read, and what is not referred to any more wakes nobody', async () => {
  put('two', { k: '1', l: '2' });
  expect(await read('a/one', 'two', 'k')).toBe('1');
  expect(await read('a/one', 'two', 'l')).toBe('2');
  woken = [];
  change('two', { k: 'other', l: '2' });
  await until('a read', () => reads === 3);
  change('two', { k: 'other', l: 'news' });
  await until('the news', () => woken.length > 0);
  expect(woken).toEqual(['a/one']);
});

test('what nobody tells of is read where that is asked for, once for all who ask', async () => {
  put('quiet', { k: '1' });
  expect(await read('a/one', 'quiet')).toBe('1');
  const referent = referents.at('ConfigMap', 'a', 'quiet');
  put('quiet', { k: '2' });
  expect(await Promise.all([referent.readAnew(), referent.readAnew()])).toEqual([true, true]);
  expect([referent.read('k'), reads]).toEqual(['2', 2]);
  failure = new KubeError('reading', { status: 403, message: 'forbidden' });
  expect(await referent.readAnew()).toBe(false);
  failure = new KubeConnectionError('reading', new Error('reset'));
  expect(await referent.readAnew(AbortSignal.timeout(1_000))).toBe(false);
});

test('a key that is asked for while another one is read is waited for', async () => {
  put('two', { k: '1', l: '2' });
  const values = Promise.all([read('a/one', 'two', 'k'), read('a/other', 'two', 'l')]);
  expect(await values).toEqual(['1', '2']);
});

test('another of the same name and content wakes', async () => {
  put('two', { k: '1' });
  await read('a/one', 'two');
  woken = [];
  change('two', { k: '1' }, { uid: 'another' });
  await until('the news', () => woken.length > 0);
  expect(woken).toEqual(['a/one']);
  expect(referents.at('ConfigMap', 'a', 'two').metadata?.uid).toBe('another');
});

test('one that loses a holder wakes, and one that gets a holder, or loses another finalizer, does not', async () => {
  const holder = holderFinalizer({ metadata: { uid: 'h' } });
  put('held', { k: '1' }, { finalizers: [holder, 'other'] });
  await read('a/one', 'held');
  woken = [];
  const held = async (...finalizers: readonly string[]) => {
    const before = reads;
    change('held', { k: '1' }, { finalizers });
    await until('the read', () => reads > before);
    return woken.splice(0);
  };
  expect(await held(holder)).toEqual([]);
  expect(await held()).toEqual(['a/one']);
  expect(await held(holder)).toEqual([]);
});

test('one that loses a holder before anybody has read that it had one wakes', async () => {
  const holder = holderFinalizer({ metadata: { uid: 'h' } });
  put('held', { k: '1' });
  await read('a/one', 'held');
  woken = [];
  referents.at('ConfigMap', 'a', 'held').noteHeld(holder);
  expect(referents.at('ConfigMap', 'a', 'held').metadata?.finalizers).toEqual([holder]);
  change('held', { k: '1' });
  await until('the news', () => woken.length > 0);
});

test('however often an object changes it is read twice a second at most', async () => {
  put('busy', { k: '0' });
  await read('a/one', 'busy');
  for (let time = 1; time <= 1_000; time++) change('busy', { k: String(time) });
  await until('the last value', async () => (await read('a/one', 'busy')) === '1000');
  expect(reads).toBeLessThan(5);
});

describe('what cannot be read', () => {
  test('for want of rights says so at once, and wakes when it can', async () => {
    failure = new KubeError('listing', { status: 403, message: 'forbidden' });
    put('closed', { k: 'v' });
    await expect(read('a/one', 'closed')).rejects.toThrow('ConfigMap a/closed cannot be read: check that');
    await expect(read('a/one', 'closed')).rejects.toThrow('cannot be read');
    failure = undefined;
    await until('the news', () => woken.includes('a/one'), 5_000);
    expect(await read('a/one', 'closed')).toBe('v');
  });

  test('for want of an answer is read again and again', async () => {
    failure = new KubeConnectionError('listing', new Error('away'));
    put('far', { k: 'v' });
    const value = read('a/one', 'far');
    await until('some tries', () => reads >= 2);
    failure = undefined;
    expect(await value).toBe('v');
  });
});

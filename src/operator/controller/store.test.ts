import { describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../kube/types.ts';
import { ObjectStore } from './store.ts';

interface Thing extends KubeObject {
  readonly spec?: string;
}

function thing(
  name: string,
  version: number,
  fields: { uid?: string; generation?: number; spec?: string } = {},
): Thing {
  const { uid = `uid-${name}`, generation = 1, spec = '' } = fields;
  const metadata = { name, namespace: 'default', uid, generation, resourceVersion: String(version) };
  return { apiVersion: 'v1', kind: 'Thing', metadata, spec };
}

function versionIn(store: ObjectStore<Thing>, key = 'default/a'): string | undefined {
  return store.get(key)?.metadata.resourceVersion;
}

describe('what the server says', () => {
  test('is told once, and never goes back in time', () => {
    const store = new ObjectStore<Thing>();
    expect(store.upsert(thing('a', 9))).toMatchObject([{ type: 'add' }]);
    expect(store.upsert(thing('a', 10))).toMatchObject([
      { type: 'update', old: { metadata: { resourceVersion: '9' } } },
    ]);
    expect(store.upsert(thing('a', 10))).toEqual([]);
    expect(store.upsert(thing('a', 9))).toEqual([]);
    expect(versionIn(store)).toBe('10');
  });

  test('another uid under the same key is a delete and an add', () => {
    const store = new ObjectStore<Thing>();
    store.upsert(thing('a', 5));
    const changes = store.upsert(thing('a', 8, { uid: 'other' }));
    expect(changes.map(({ type, object }) => [type, object.metadata.uid])).toEqual([
      ['delete', 'uid-a'],
      ['add', 'other'],
    ]);
  });

  test('a list deletes what it lacks', () => {
    const store = new ObjectStore<Thing>();
    store.upsert(thing('a', 5));
    store.upsert(thing('b', 6));
    expect(store.replace([thing('b', 6), thing('c', 7)], 7n)).toMatchObject([
      { type: 'delete', object: { metadata: { name: 'a' } } },
      { type: 'add', object: { metadata: { name: 'c' } } },
    ]);
  });

  test.each([false, true])(
    'a list that shows it otherwise at the same version is of another history (known for that: %s)',
    (reset) => {
      const store = new ObjectStore<Thing>();
      const { apiVersion: _, kind: __, ...listed } = thing('a', 6, { spec: 'as it was' });
      store.upsert(thing('a', 6, { spec: 'as it was' }));
      expect(store.replace([listed as Thing], 7n, reset)).toEqual([]);
      const restored = thing('a', 6, { spec: 'as the backup has it' });
      expect(store.ask()).toBe(6n);
      expect(store.replace([restored], 7n, reset)).toMatchObject([{ type: 'update', old: { spec: 'as it was' } }]);
      expect(store.get('default/a')).toBe(restored);
      expect(store.upsert(restored)).toEqual([]);
    },
  );

  test('a list of a server that has gone back in time wins over newer objects', () => {
    const store = new ObjectStore<Thing>();
    store.upsert(thing('a', 500));
    store.upsert(thing('b', 501));
    expect(store.replace([thing('a', 50)], 60n, true).map((change) => change.type)).toEqual(['delete', 'update']);
    expect(versionIn(store)).toBe('50');
    expect(store.upsert(thing('b', 61))).toMatchObject([{ type: 'add' }]);
  });

  test('an object that left the selection may come back', () => {
    const store = new ObjectStore<Thing>();
    store.upsert(thing('a', 5));
    store.remove(thing('a', 6));
    expect(store.upsert(thing('a', 7))).toMatchObject([{ type: 'add' }]);
  });
});

describe('our own writes', () => {
  test('are readable at once and their echo is no change', () => {
    const store = new ObjectStore<Thing>();
    store.upsert(thing('a', 9));
    expect(store.assume(thing('a', 11))).toMatchObject({ type: 'update' });
    expect(versionIn(store)).toBe('11');
    expect(store.upsert(thing('a', 11))).toEqual([]);
    expect(store.upsert(thing('a', 12))).toMatchObject([{ old: { metadata: { resourceVersion: '11' } } }]);
  });

  test('several in a row have several silent echoes', () => {
    const store = new ObjectStore<Thing>();
    store.upsert(thing('a', 9));
    store.assume(thing('a', 10));
    store.assume(thing('a', 12));
    expect([...store.upsert(thing('a', 10)), ...store.upsert(thing('a', 12))]).toEqual([]);
    expect(versionIn(store)).toBe('12');
  });

  test("somebody else's change that ours has overtaken is told, with the newest object", () => {
    const store = new ObjectStore<Thing>();
    store.upsert(thing('a', 9));
    store.assume(thing('a', 11, { generation: 2 }));
    const [change, ...others] = store.upsert(thing('a', 10, { generation: 2 }));
    expect(others).toEqual([]);
    expect(change).toMatchObject({
      type: 'update',
      object: { metadata: { resourceVersion: '11' } },
      old: { metadata: { resourceVersion: '9' } },
    });
    expect(store.upsert(thing('a', 11, { generation: 2 }))).toEqual([]);
  });

  test("a patch that changed nothing does not hide somebody else's spec", () => {
    const store = new ObjectStore<Thing>();
    store.upsert(thing('a', 9));
    store.assume(thing('a', 10, { generation: 2 }));
    expect(store.upsert(thing('a', 10, { generation: 2 }))).toMatchObject([{ type: 'update' }]);
  });

  test('a list that includes one is told, since changes by others may lie in between', () => {
    const store = new ObjectStore<Thing>();
    store.upsert(thing('a', 9));
    store.assume(thing('a', 11));
    expect(store.replace([thing('a', 11)], 15n)).toMatchObject([{ type: 'update' }]);
    expect(store.replace([thing('a', 11)], 16n)).toEqual([]);
  });

  test.each([
    ['an answer that is not newer than what is stored', (store: ObjectStore<Thing>) => store.upsert(thing('a', 20))],
    ['an object whose delete was watched', (store: ObjectStore<Thing>) => store.remove(thing('a', 20))],
    ['an object that a list lacked', (store: ObjectStore<Thing>) => store.replace([], 20n)],
    [
      'an object that was replaced by a namesake',
      (store: ObjectStore<Thing>) => store.upsert(thing('a', 20, { uid: 'new' })),
    ],
  ])('change nothing for %s', (_reason, happens) => {
    const store = new ObjectStore<Thing>();
    store.upsert(thing('a', 5));
    happens(store);
    const before = store.get('default/a');
    expect(store.assume(thing('a', 10))).toBeUndefined();
    expect(store.get('default/a')).toBe(before);
  });

  test('that let a deleted object go delete it at once, whatever comes late', () => {
    const store = new ObjectStore<Thing>();
    store.upsert(thing('a', 5));
    const gone = {
      ...thing('a', 6),
      metadata: { ...thing('a', 6).metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    };
    const held = { ...gone, metadata: { ...gone.metadata, finalizers: ['example.dev/other'] } };
    expect(store.assume(held)).toMatchObject({ type: 'update' });
    expect(store.assume(gone)).toMatchObject({ type: 'delete' });
    expect(store.get('default/a')).toBeUndefined();
    expect([...store.upsert(held), ...store.remove({ ...gone, ...thing('a', 7) })]).toEqual([]);
    expect(store.assume(gone)).toBeUndefined();
    expect(store.upsert(thing('a', 8, { uid: 'other' }))).toMatchObject([{ type: 'add' }]);
  });

  test('of an object unknown so far survive an older list and are deleted by a newer one', () => {
    const store = new ObjectStore<Thing>();
    store.assume(thing('a', 30));
    expect(store.replace([], 29n)).toEqual([]);
    expect(versionIn(store)).toBe('30');
    expect(store.replace([], 31n)).toMatchObject([{ type: 'delete' }]);
  });
});

test('indexes follow every way an object comes, changes and goes', () => {
  const store = new ObjectStore<Thing>();
  store.upsert(thing('a', 1, { spec: 'x' }));
  store.addIndex('spec', ({ spec }) => (spec ? [spec] : []));
  const names = (value: string) => store.byIndex('spec', value).map((object) => object.metadata.name);
  store.upsert(thing('b', 2, { spec: 'x' }));
  expect(names('x')).toEqual(['a', 'b']);
  store.assume(thing('b', 3, { spec: 'y' }));
  expect([names('x'), names('y')]).toEqual([['a'], ['b']]);
  store.remove(thing('a', 4));
  store.replace([], 9n);
  expect([names('x'), names('y')]).toEqual([[], []]);
  expect(() => store.byIndex('nope', 'x')).toThrow('there is no index "nope"');
});

describe('a list contradicts what is known', () => {
  const known = () => {
    const store = new ObjectStore<Thing>();
    store.replace([thing('a', 5), thing('b', 6)], 7n);
    store.remove(thing('b', 8));
    return store;
  };

  test.each([
    ['as it was before, when it had changed by then', [thing('a', 4)], 9n],
    ['as it was before it went', [thing('a', 5), thing('b', 6)], 9n],
  ])('that shows an object %s', (_, objects, version) => {
    expect(known().isContradicted(objects, version)).toBe(true);
  });

  test.each([
    ['as it is', [thing('a', 5)], 9n],
    ['as it became', [thing('a', 9)], 9n],
    ['as it was, when it is from before the change', [thing('a', 4)], 4n],
    ['that was there again since', [thing('a', 5), thing('b', 9)], 9n],
  ])('but not one that shows an object %s', (_, objects, version) => {
    expect(known().isContradicted(objects, version)).toBe(false);
  });

  test('nor one of before the last finalizer went, of which nobody knows when exactly, but one that is asked for since', () => {
    const store = known();
    const going = {
      ...thing('a', 10),
      metadata: { ...thing('a', 10).metadata, deletionTimestamp: 'now', finalizers: [] },
    };
    store.assume(going as Thing);
    expect(store.isContradicted([thing('a', 10)], 20n)).toBe(false);
    store.ask();
    expect(store.isContradicted([thing('a', 10)], 20n)).toBe(true);
    expect(store.isContradicted([thing('a', 11)], 20n)).toBe(false);
  });
});

import { beforeEach, describe, expect, test } from '@jest/globals';
import type { KubeClient } from '../../kube/client.ts';
import { KubeError } from '../../kube/errors.ts';
import type { ResourceType } from '../../kube/types.ts';
import { BehindError, UnrecordedError } from '../status/outcome.ts';
import { annotation, finalizer } from './annotations.ts';
import type { ManagedObject, Ownership } from './resource.ts';
import { ObjectWriter } from './writer.ts';

const type: ResourceType = { group: 'g', version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true };

function widget(resourceVersion: string, status: ManagedObject['status'] & object): ManagedObject {
  const metadata = { namespace: 'a', name: 'b', uid: 'u', resourceVersion };
  return { apiVersion: 'g/v1', kind: 'Widget', metadata, spec: {}, status };
}

let learnt: (ManagedObject | undefined)[];
const learntVersions = () => learnt.map((object) => object?.metadata.resourceVersion);
/** When that was read. */
let knownBefore: ManagedObject[];
beforeEach(() => {
  [learnt, knownBefore] = [[], []];
});

const cache = {
  write: (_: string, perform: () => Promise<ManagedObject>) => perform(),
  learn: (object: ManagedObject | undefined, known: ManagedObject) => {
    learnt.push(object);
    knownBefore.push(known);
  },
};

type Patch = { metadata: { finalizers?: string[]; annotations?: Record<string, string | null> } };

function patched(object: ManagedObject, { metadata: { finalizers, annotations } }: Patch): ManagedObject {
  const all = Object.entries({ ...object.metadata.annotations, ...annotations });
  const kept = Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== null));
  return { ...object, metadata: { ...object.metadata, ...(finalizers && { finalizers }), annotations: kept } };
}

/** A server that has `there`; answers the writes that it took. */
function serverOf(there: ManagedObject | undefined) {
  const taken: unknown[] = [];
  const client = {
    get: async () => there,
    patch: async (_: unknown, __: unknown, { body }: { body: Patch & { metadata: { resourceVersion: string } } }) => {
      if (there === undefined) throw notFound;
      if (body.metadata.resourceVersion !== there.metadata.resourceVersion) throw conflict;
      taken.push(body);
      return patched(there, body);
    },
    delete: async (_: unknown, __: unknown, { preconditions }: { preconditions: { resourceVersion: string } }) => {
      if (there !== undefined && preconditions.resourceVersion !== there.metadata.resourceVersion) throw conflict;
      return there;
    },
  };
  return { writer: new ObjectWriter(client as unknown as KubeClient, type, cache, () => 'one'), taken };
}

const conflict = new KubeError('patching', { status: 409, reason: 'Conflict', message: 'has been modified' });
const notFound = new KubeError('patching', { status: 404, reason: 'NotFound', message: 'not found' });

test('a status that somebody emptied meanwhile is written whole', async () => {
  const status = { observedGeneration: 1, id: 'x', conditions: [] };
  const { writer, taken } = serverOf(widget('2', { observedGeneration: -1 }));
  await writer.writeStatus(widget('1', status), { ...status, id: 'y' });
  expect(taken).toEqual([{ status: { ...status, id: 'y' }, metadata: { resourceVersion: '2' } }]);
  expect(learntVersions()).toEqual(['2']);
});

test.each<[string, Pick<ManagedObject['metadata'], 'annotations'>, Ownership]>([
  ['in the status', {}, { id: 'newer' }],
  ['in annotations', { annotations: { [annotation.createdID]: 'newer' } }, {}],
])(
  'a status of what was known does not take the place of what another replica put on record %s',
  async (_, metadata, ownership) => {
    const known = widget('1', { ownership: { id: 'older' } });
    const given = widget('2', { ownership });
    const { writer, taken } = serverOf({ ...given, metadata: { ...given.metadata, ...metadata } });
    await expect(writer.writeStatus(known, { ...known.status, conditions: [] })).rejects.toBe(conflict);
    expect([taken, learntVersions()]).toEqual([[], ['2']]);
  },
);

test.each([
  ['a record', (writer: ObjectWriter, object: ManagedObject) => writer.record(object, { x: 'y' })],
  ['an annotation', (writer: ObjectWriter, object: ManagedObject) => writer.annotate(object, { x: 'y' })],
])('what is in conflict with %s is learned of, and not overcome', async (_, write) => {
  const { writer, taken } = serverOf(widget('1', {}));
  const known = widget('2', {});
  await expect(write(writer, known)).rejects.toBe(conflict);
  expect([taken, learntVersions(), knownBefore]).toEqual([[], ['1'], [known]]);
});

test.each<[string, (writer: ObjectWriter, object: ManagedObject) => Promise<unknown>]>([
  ['a record', (writer, object) => writer.record(object, { x: 'y' })],
  ['an annotation', (writer, object) => writer.annotate(object, { x: 'y' })],
  ['one that is insisted on', (writer, object) => writer.insist(object, () => ({ x: 'y' }))],
  ['a status', (writer, object) => writer.writeStatus(object, { x: 'y' })],
])('%s is not written to what is not there, which is learned', async (_, write) => {
  const known = widget('2', {});
  await expect(write(serverOf(undefined).writer, known)).rejects.toBe(notFound);
  expect([learnt, knownBefore]).toEqual([[undefined], [known]]);
});

const held = (version: string): ManagedObject => {
  const given = widget(version, {});
  return { ...given, metadata: { ...given.metadata, finalizers: [finalizer] } };
};

describe.each<[string, (writer: ObjectWriter, object: ManagedObject) => Promise<void>]>([
  ['letting go of what was read', (writer, object) => writer.removeFinalizerAsRead(object)],
  ['placing', (writer, object) => writer.place(object, '0')],
  ['deleting', (writer, object) => writer.delete(object)],
])('%s', (_, write) => {
  test('learns of what is in conflict with it', async () => {
    await expect(write(serverOf(held('1')).writer, held('2'))).rejects.toBe(conflict);
    expect([learntVersions(), knownBefore]).toEqual([['1'], [held('2')]]);
  });

  test('learns that nothing is there', async () => {
    await write(serverOf(undefined).writer, held('2'));
    expect([learnt, knownBefore]).toEqual([[undefined], [held('2')]]);
  });
});

test('a status that is right already is not written', async () => {
  const status = { observedGeneration: 1, id: 'x' };
  const { writer, taken } = serverOf(widget('1', status));
  await writer.writeStatus(widget('1', status), status);
  expect(taken).toEqual([]);
});

test.each([
  ['one', 1],
  ['another', 0],
])('what installation %s wrote meanwhile of its own is overwritten %d times', async (installation, times) => {
  const managed = (version: string, id: string | undefined): ManagedObject => {
    const given = widget(version, { id });
    const annotations = { [annotation.installation]: installation, [annotation.recordOf]: 'u' };
    return { ...given, metadata: { ...given.metadata, annotations } };
  };
  const { writer, taken } = serverOf(managed('2', 'x'));
  await writer.writeStatus(managed('1', undefined), { conditions: [] }).catch((error: unknown) => {
    expect(error).toBe(conflict);
  });
  expect(taken).toHaveLength(times);
});

test('that somebody wiped whose it is, is learned of the conflict, though nothing is written', async () => {
  const status = { ownership: undefined, conditions: [] };
  const annotations = { [annotation.installation]: 'one', [annotation.recordOf]: 'u' };
  const given = widget('1', status);
  const { writer, taken } = serverOf(widget('2', status));
  const write = writer.writeStatus({ ...given, metadata: { ...given.metadata, annotations } }, { id: 'x' });
  await expect(write).rejects.toBe(conflict);
  expect(taken).toEqual([]);
  expect(learntVersions()).toEqual(['2']);
});

test.each([
  ['an older', 1, 0],
  ['a newer', 3, 1],
])('the status of what is of %s generation by now, as after a restore, is written or not', async (_, now, times) => {
  const of = (version: string, generation: number): ManagedObject => {
    const given = widget(version, {});
    return { ...given, metadata: { ...given.metadata, generation } };
  };
  const { writer, taken } = serverOf(of('2', now));
  const write = writer.writeStatus(of('1', 2), { observedGeneration: 2 });
  await write.catch((error: unknown) => expect(error).toBe(conflict));
  expect(taken).toHaveLength(times);
});

describe('a finalizer', () => {
  test('goes after what it guards, whatever was changed meanwhile', async () => {
    const { writer, taken } = serverOf(held('2'));
    await writer.removeFinalizer(held('1'));
    expect(taken).toEqual([{ metadata: { finalizers: [], resourceVersion: '2' } }]);
  });

  test('stays when nothing is done because of what was read, and that was changed', async () => {
    const { writer, taken } = serverOf(held('2'));
    await expect(writer.removeFinalizerAsRead(held('1'))).rejects.toBe(conflict);
    expect(taken).toEqual([]);
  });
});

describe('a resource is as it was read', () => {
  const read = widget('1', {});
  const later = (more: Partial<ManagedObject['metadata']>): ManagedObject => ({
    ...read,
    metadata: { ...read.metadata, resourceVersion: '2', ...more },
  });

  test.each<[string, Partial<ManagedObject['metadata']>]>([
    ['labels', { labels: { a: 'b' } }],
    ['when a person last asked for a look', { annotations: { [annotation.reconcileAt]: 'now' } }],
    ['annotations of others', { annotations: { 'example.com/a': 'b' } }],
    ['fields’ managers', { managedFields: [] } as never],
  ])('where %s have changed meanwhile', async (_, more) => {
    const { writer } = serverOf(later(more));
    expect((await writer.confirm(read)).metadata.resourceVersion).toBe('2');
  });

  test.each<[string, Partial<ManagedObject['metadata']>]>([
    ['a namesake', { uid: 'v' }],
    ['to go', { deletionTimestamp: '2026-01-01T00:00:00Z' }],
    ['of another spec', { generation: 2 }],
    ['held no more, or by now', { finalizers: [finalizer] }],
    ['told otherwise by an annotation', { annotations: { [annotation.paused]: 'true' } }],
  ])('not where it is %s', async (_, more) => {
    await expect(serverOf(later(more)).writer.confirm(read)).rejects.toThrow(
      'Widget a/b is otherwise by now than it was read',
    );
  });

  test('not where it has gone', async () => {
    const { writer } = serverOf(undefined);
    await expect(writer.confirm(read)).rejects.toThrow(BehindError);
    expect(await writer.fateOf(read)).toBe('changed');
  });

  test('and stays, where it is so and not to go', async () => {
    expect(await serverOf(later({})).writer.fateOf(read)).toBe('stays');
    for (const more of [
      { uid: 'v' },
      { deletionTimestamp: '2026-01-01T00:00:00Z' },
      { annotations: { [annotation.appliedParts]: '' } },
    ]) {
      expect(await serverOf(later(more)).writer.fateOf(read)).toBe('changed');
    }
  });

  test('and of unknown fate where it may not be read', async () => {
    const forbidden = new KubeError('getting', { status: 403, reason: 'Forbidden', message: 'no' });
    const client = { get: () => Promise.reject(forbidden) };
    const writer = new ObjectWriter(client as unknown as KubeClient, type, cache, () => 'one');
    expect(await writer.fateOf(read)).toBe('unknown');
    expect(await writer.isThere(read)).toBe(false);
  });

  test('and there, whatever it is by now, unless it is another one of its name', async () => {
    const there = [later({}), later({ deletionTimestamp: '2026-01-01T00:00:00Z' }), later({ uid: 'v' }), undefined];
    const found = await Promise.all(there.map((object) => serverOf(object as never).writer.isThere(read)));
    expect(found).toEqual([true, true, false, false]);
  });
});

test('with its first record goes what a manifest that was copied brought along, but the id that it names', async () => {
  const brought = { [annotation.recordOf]: 'v', [annotation.createdID]: 'x', [annotation.externalID]: 'x' };
  const given = widget('1', {});
  const copied = { ...given, metadata: { ...given.metadata, annotations: { ...brought, [annotation.paused]: 'no' } } };
  const { writer, taken } = serverOf(copied);
  await writer.record(copied, { [annotation.account]: 'default' });
  const own = { [annotation.account]: 'default', [annotation.installation]: 'one', [annotation.recordOf]: 'u' };
  expect(taken).toMatchObject([{ metadata: { annotations: { ...own, [annotation.createdID]: null } } }]);
  expect(Object.keys((taken[0] as ManagedObject).metadata.annotations ?? {})).not.toContain(annotation.externalID);
});

test.each<[string, Record<string, string>]>([
  ['wiped them', {}],
  ['took out whose they are', { [annotation.account]: 'default', [annotation.appliedParts]: 'a,b' }],
  ['put those of another there', { [annotation.recordOf]: 'v', [annotation.createdID]: 'x' }],
])('what must not be lost puts the other records back where somebody %s', async (_, left) => {
  const known = { [annotation.account]: 'default', [annotation.appliedParts]: 'a,b', [annotation.recordOf]: 'u' };
  const withRecords = (version: string, annotations: Record<string, string>) => {
    const { metadata, ...rest } = widget(version, {});
    return { ...rest, metadata: { ...metadata, annotations } };
  };
  const { writer } = serverOf(withRecords('2', { ...left, [annotation.externalID]: 'named' }));
  const written = await writer.insist(withRecords('1', known), () => ({ [annotation.appliedParts]: 'a' }));
  expect(written.metadata.annotations).toEqual({
    ...known,
    [annotation.appliedParts]: 'a',
    [annotation.installation]: 'one',
    [annotation.externalID]: 'named',
  });
});

describe('records that Kubernetes takes no part of', () => {
  const records = { [annotation.createIntent]: 'x' };
  const object = widget('1', {});
  /** @param admit what becomes of a write on its way */
  const writerOf = (admit: (patch: Patch) => Patch, there = object) => {
    const patch = async (_: unknown, __: unknown, { body }: { body: Patch }) => patched(there, admit(body));
    return new ObjectWriter({ patch } as unknown as KubeClient, type, cache, () => 'one');
  };
  const strip = ({ metadata: { annotations, ...rest } }: Patch): Patch => ({ metadata: rest });
  const unguard = ({ metadata: { finalizers, ...rest } }: Patch): Patch => ({ metadata: rest });
  const deny = (status: number) => () => {
    throw new KubeError('patching Widget a/b', { status, message: 'denied by a policy' });
  };

  test('are kept', async () => {
    const writer = writerOf((patch) => patch);
    const { metadata } = await writer.record(object, { ...records, [annotation.createdID]: null });
    expect([metadata.finalizers, metadata.annotations]).toEqual([[finalizer], expect.objectContaining(records)]);
  });

  test('whose it is stands beside it, with the finalizer or without', async () => {
    const own = { [annotation.installation]: 'one', [annotation.recordOf]: 'u' };
    const { metadata: signed } = await writerOf((patch) => patch).sign(object, records);
    expect([signed.finalizers, signed.annotations]).toEqual([
      undefined,
      expect.objectContaining({ ...records, ...own }),
    ]);
    const { metadata: held } = await writerOf((patch) => patch).record(object, records);
    expect([held.finalizers, held.annotations]).toEqual([[finalizer], expect.objectContaining({ ...records, ...own })]);
  });

  test.each([
    ['an annotation that is taken out', strip, /did not keep the annotation edge-operator.dev\/create-intent: /],
    ['a finalizer that is taken out', unguard, /did not keep the finalizer edge-operator.dev\/external-resource: /],
    ['a write that a role or a webhook denies', deny(403), /^no record of it can be kept: .*denied by a policy$/],
    ['a write that an admission policy denies', deny(422), /^no record of it can be kept: .*denied by a policy$/],
  ])('%s: nothing is done that relies on it', async (_, admit, message) => {
    const failure = writerOf(admit).record(object, records);
    await expect(failure).rejects.toThrow(UnrecordedError);
    await expect(failure).rejects.toThrow(message);
  });

  test.each([
    ['an annotation', (writer: ObjectWriter) => writer.annotate(object, records)],
    ['what must not be lost', (writer: ObjectWriter) => writer.insist(object, () => records)],
  ])('%s that is taken out is missed', async (_, write) => {
    await expect(write(writerOf(strip))).rejects.toThrow(/did not keep the annotation/);
  });

  test.each([
    ['removeFinalizer', unguard, /kept the finalizer edge-operator.dev\/external-resource: /],
    ['removeFinalizerAsRead', unguard, /kept the finalizer/],
    ['removeFinalizer', deny(403), /^its finalizer cannot be taken off: .*denied by a policy$/],
    ['removeFinalizerAsRead', deny(422), /^its finalizer cannot be taken off: /],
  ] as const)('a finalizer that stays: %s', async (method, admit, message) => {
    const held = { ...object, metadata: { ...object.metadata, finalizers: [finalizer] } };
    const failure = writerOf(admit, held)[method](held);
    await expect(failure).rejects.toThrow(UnrecordedError);
    await expect(failure).rejects.toThrow(message);
    await expect(writerOf((patch) => patch, held)[method](held)).resolves.toBeUndefined();
  });
});

import { beforeEach, describe, expect, test } from '@jest/globals';
import { annotation, finalizer, recordsFor } from './annotations.ts';
import type { Facts } from './memory.ts';
import { isAsWritten, noteOthers, noteRecords, noteWritten } from './records.ts';
import type { ManagedObject } from './resource.ts';

const parts = { [annotation.recordOf]: 'u', [annotation.account]: 'default', [annotation.appliedParts]: 'a,b' };
const older = { ...parts, [annotation.appliedParts]: 'a' };
/** Longer than anything that another process wrote may come late. */
const longMs = 600_000;

function thing(annotations: Readonly<Record<string, string>>, finalizers = [finalizer]): ManagedObject {
  const metadata = { namespace: 'ns', name: 'a', uid: 'u', annotations, finalizers };
  return { apiVersion: 'g/v1', kind: 'Thing', metadata, spec: {} };
}

let known: Pick<Facts, 'records' | 'recordsOpenUntil'>;
beforeEach(() => {
  known = {};
  noteRecords(known, thing(parts), 0);
});

describe('what is read otherwise than it was', () => {
  test.each<[string, () => void, object]>([
    ['right after the first time is what is to be', () => {}, older],
    ['after this process has written is not', () => noteWritten(known, thing(parts), {}), parts],
    ['after another one has is', () => noteOthers(known, thing(parts)), older],
  ])('%s', (_, happens, expected) => {
    happens();
    noteRecords(known, thing(older), 1);
    expect(known.records).toEqual(expected);
  });

  test('is what is to be for as long as writes of others may come late', () => {
    noteRecords(known, thing(older), longMs);
    expect(known.records).toEqual(parts);
  });

  test('may be what this process wrote without an answer', () => {
    noteWritten(known, thing(parts), {});
    delete known.recordsOpenUntil;
    noteRecords(known, thing(older), longMs);
    expect(known.records).toEqual(older);
  });

  test('of one that is not guarded, or is a manifest of another one, is none of ours', () => {
    noteWritten(known, thing({ ...older, [annotation.recordOf]: 'v' }), {});
    noteWritten(known, thing(older, []), {});
    expect(known.records).toEqual(parts);
  });
});

test('of what was written onto somebody’s change only what was written is ours', () => {
  noteWritten(known, thing(parts), {});
  const changed = { ...older, [annotation.externalID]: 'named', [annotation.heldSecret]: 'k' };
  noteWritten(known, thing(changed), { [annotation.heldSecret]: 'k', [annotation.account]: null });
  const { [annotation.account]: _, ...rest } = parts;
  expect(known.records).toEqual({ ...rest, [annotation.externalID]: 'named', [annotation.heldSecret]: 'k' });
});

const intent = { [annotation.createIntent]: '{}' };
const marked = { ...parts, ...intent };
const named = { [annotation.externalID]: 'x' };

test.each([
  ['nothing', marked, true],
  ['the id that it is to stand for', { ...marked, ...named }, true],
  ['that a create is to be forgotten', parts, true],
  ['that, and an id', { ...parts, ...named }, true],
  ['that, as part of a manifest from before it', older, false],
  ['what was taken out', { ...intent, [annotation.recordOf]: 'u', [annotation.appliedParts]: 'a,b' }, false],
  ['what was put in', { ...marked, [annotation.createdID]: 'x' }, false],
  ['an intent that is another', { ...parts, [annotation.createIntent]: '{"at":"then"}' }, false],
])('people say by records: %s', (_, annotations, isSaid) => {
  expect(isAsWritten(thing(annotations), marked)).toBe(isSaid);
});

test('a record that somebody emptied is none, and nothing that would be put back', () => {
  const emptied = thing({ ...parts, [annotation.heldSecret]: '' });
  noteRecords(known, emptied, 1);
  expect(isAsWritten(emptied, known.records ?? {})).toBe(true);
});

test('what is put back leaves nothing of a change but the id that it names', () => {
  const changed = { ...older, ...named, [annotation.createdID]: 'x', [annotation.paused]: 'true' };
  expect(recordsFor(thing(changed), marked)).toEqual({ ...marked, ...named, [annotation.createdID]: null });
});

test('of one that lost its finalizer before this process knew it, its own records stay, and no others', () => {
  expect(recordsFor(thing(parts, []), undefined)).toEqual({ ...parts, [annotation.externalID]: null });
  const copied = thing({ ...parts, ...named, [annotation.recordOf]: 'v' }, []);
  const none = Object.fromEntries(Object.keys(parts).map((name) => [name, null]));
  expect(recordsFor(copied, undefined)).toEqual({ ...none, ...named });
});

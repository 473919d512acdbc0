import { expect, test } from '@jest/globals';
import { annotation } from './annotations.ts';
import { BehindError } from './outcome.ts';
import type { ManagedObject } from './resource.ts';
import { callOfDelete, checkWanted } from './still-wanted.ts';

const object: ManagedObject = {
  apiVersion: 'edge-operator.dev/v1alpha1',
  kind: 'Thing',
  metadata: { name: 'a', namespace: 'ns', uid: 'u', generation: 1 },
  spec: {},
};

const having = (metadata: Partial<ManagedObject['metadata']>): ManagedObject => ({
  ...object,
  metadata: { ...object.metadata, ...metadata },
});

const paused = { annotations: { [annotation.paused]: 'true' } };
const forced = { annotations: { [annotation.forceOrphan]: 'true' } };
const going = { deletionTimestamp: '2026-01-01T00:00:00Z', generation: 2 };

test.each([
  ['nothing has changed', {}, {}, true],
  ['the spec was edited, of which the next call tells', {}, { generation: 2 }, true],
  ['it is paused', {}, paused, false],
  ['its namesake is paused', {}, { ...paused, uid: 'v' }, true],
  ['it goes as it did', going, going, true],
  ['what is known is older than what was read', { ...going, generation: 3 }, going, true],
  ['it goes, and is to keep what it made', going, { ...going, generation: 3 }, false],
  ['it goes, and is to leave what it made behind', going, { ...going, ...forced }, false],
  ['it would leave it behind if it went', {}, forced, true],
])('what waited for its turn is sent, or not, when %s', (_, before, now, isSent) => {
  const check = () => checkWanted(having(before), having(now));
  if (isSent) expect(check).not.toThrow();
  else expect(check).toThrow(BehindError);
});

test('what has gone meanwhile is of no matter', () => {
  expect(() => checkWanted(object, undefined)).not.toThrow();
});

test.each([
  ['nothing has changed', {}, undefined, undefined],
  ['what is known is older than what was read', { generation: 0 }, undefined, undefined],
  ['the spec was edited', { generation: 2 }, undefined, /the spec was changed meanwhile/],
  ['somebody else has it', {}, object, /another resource has it by now/],
])('a delete is sent, or not, when %s', (_, now, keeper, message) => {
  let asked = 0;
  const permit = () => {
    asked += 1;
  };
  const call = { priority: 'change', namespace: 'ns', permit } as const;
  const peers = { get: () => having(now) } as never;
  const given = callOfDelete({ call, peers, resource: { object } as never }, () => keeper);
  expect(given).toMatchObject({ priority: 'change', namespace: 'ns' });
  if (message === undefined) expect(() => given.permit?.()).not.toThrow();
  else expect(() => given.permit?.()).toThrow(message);
  expect(asked).toBe(1);
});

import { describe, expect, test } from '@jest/globals';
import { annotation } from '../resource/annotations.ts';
import type { ManagedObject, Ownership } from '../resource/resource.ts';
import { Installation } from './installation.ts';

function resource(ownership: Ownership, annotations: Record<string, string> = {}): ManagedObject {
  return {
    apiVersion: 'edge-operator.dev/v1alpha1',
    kind: 'BotUser',
    metadata: { name: 'a', namespace: 'ns', uid: 'u', annotations },
    spec: {},
    status: { ownership },
  };
}

const green = (takeOver = false) => new Installation({ name: () => 'green', takeOver, now: () => 0 });

test('is known by its plain name too, which is its name where nobody tells them apart', () => {
  const names = { name: () => 'ops-0123abcd', plainName: () => 'ops' };
  expect(new Installation({ ...names, takeOver: false, now: () => 0 }).names).toEqual({
    name: 'ops-0123abcd',
    plain: 'ops',
  });
  expect(green().names).toEqual({ name: 'green', plain: 'green' });
});

describe('whose a resource is', () => {
  test.each([
    ['nobody’s yet', resource({}), undefined],
    ['this one’s', resource({ installation: 'green' }), undefined],
    ['this one’s, whose namespace could not be read', resource({ installation: 'green-0123abcd' }), undefined],
    ['another’s', resource({ installation: 'blue' }), 'blue'],
    [
      'another’s that may be taken over',
      resource({ installation: 'blue' }, { [annotation.takeOver]: 'blue' }),
      undefined,
    ],
    ['another’s than may be taken over', resource({ installation: 'blue' }, { [annotation.takeOver]: 'red' }), 'blue'],
  ])('%s', (_, object, other) => {
    expect(green().otherOf(object)).toBe(other);
    expect(green(true).otherOf(object)).toBeUndefined();
  });
});

test('what another takes back that was taken from it is let be: both may take over', () => {
  const [operator, of] = [green(true), (installation: string) => resource({ installation })];
  expect([of('blue'), of('blue'), of('green'), of('blue')].map((each) => operator.otherOf(each))).toEqual([
    ...[undefined, undefined, undefined, 'blue'],
  ]);
  expect(operator.otherOf(of('red'))).toBeUndefined();
  operator.forget('u');
  expect(operator.otherOf(of('blue'))).toBeUndefined();
});

test('also where it is taken back before its own word is ever seen', () => {
  const [operator, blue] = [green(true), resource({ installation: 'blue' })];
  expect(operator.otherOf(blue)).toBeUndefined();
  operator.wrote(blue);
  expect(operator.otherOf(blue)).toBe('blue');
});

describe('where what it made is', () => {
  const deleted = (object: ManagedObject): ManagedObject => {
    return { ...object, metadata: { ...object.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } };
  };
  const made = { apiURL: 'https://a.test/' };
  test.each([
    ['nowhere yet', resource({}), 'https://b.test', undefined],
    ['at the same address', resource(made), 'https://a.test', undefined],
    ['at the same one, written otherwise', resource(made), 'https://A.test:443', undefined],
    ['where there is no address', resource(made), undefined, undefined],
    [
      'at another address',
      resource(made),
      'https://b.test',
      'is at https://a.test/, and its account is at https://b.test',
    ],
    [
      'at another address, of one that is deleted',
      deleted(resource(made)),
      'https://b.test',
      'or set the annotation edge-operator.dev/force-orphan to "true" to let this resource go',
    ],
    ['at one that has moved', resource(made, { [annotation.takeOver]: made.apiURL }), 'https://b.test', undefined],
  ])('%s', (_, object, url, message) => {
    const moved = green().movedAddress(object, url);
    if (message === undefined) expect(moved).toBeUndefined();
    else expect(moved).toContain(message);
    expect(green(true).movedAddress(object, url)).toBeUndefined();
  });
});

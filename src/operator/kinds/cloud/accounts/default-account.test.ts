import { describe, expect, test } from '@jest/globals';
import { annotation } from '../../../reconcile/resource/annotations.ts';
import type { ManagedObject } from '../../../reconcile/resource/resource.ts';
import { DependencyError, RefusedError, reportFailure } from '../../../reconcile/status/outcome.ts';
import { DefaultAccountUsers } from './default-account.ts';

const users = new DefaultAccountUsers(['a']);

function resource(namespace: string, more: { metadata?: object; status?: object; spec?: object } = {}): ManagedObject {
  return {
    apiVersion: 'edge-operator.dev/v1alpha1',
    kind: 'BotUser',
    metadata: { name: 'x', namespace, ...more.metadata },
    spec: { name: 'x', ...more.spec },
    ...(more.status === undefined ? {} : { status: more.status }),
  } as ManagedObject;
}

const going = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const annotated = (id: string) => ({
  annotations: { [annotation.externalID]: id, [annotation.createdID]: id, [annotation.account]: 'default' },
});
const failureOf = (object: ManagedObject) => {
  try {
    users.check(object);
    return undefined;
  } catch (error) {
    return error;
  }
};

describe('who may use the default account', () => {
  test('all, or those that are named', () => {
    expect(() => new DefaultAccountUsers('*').check(resource('b'))).not.toThrow();
    expect(failureOf(resource('a'))).toBeUndefined();
    expect(users.mayHold(resource('a'))).toBe(true);
  });

  test('nobody else, by a Rejected that names the flag', () => {
    const failure = failureOf(resource('b'));
    expect(failure).toBeInstanceOf(RefusedError);
    expect(reportFailure(failure)).toMatchObject({
      reason: 'Rejected',
      stalled: true,
      message: expect.stringMatching(/namespace b .*--default-account-namespaces.*set spec\.accountRef/),
    });
    expect(users.mayHold(resource('b'))).toBe(false);
  });

  test('not even who says in annotations to have used it', () => {
    const forged = resource('b', { metadata: annotated('bot_of_another') });
    expect(failureOf(forged)).toBeInstanceOf(RefusedError);
    expect(users.mayHold(forged)).toBe(false);
  });

  const owning = (what: object) => ({ ownership: { account: 'default', ...what } });

  test.each<[string, { metadata?: object; status: object }]>([
    ['an object', { metadata: annotated('bot_1'), status: owning({ id: 'bot_1' }) }],
    ['an object whose annotations were wiped', { status: owning({ id: 'bot_1' }) }],
    ['a part', { status: owning({ parts: ['compression'] }) }],
  ])('whoever made %s before may delete it, and do nothing else', (_, more) => {
    expect(failureOf(resource('b', more))).toBeInstanceOf(RefusedError);
    expect(users.mayHold(resource('b', more))).toBe(true);
    expect(failureOf(resource('b', { ...more, metadata: { ...more.metadata, ...going } }))).toBeUndefined();
  });

  test.each<[string, { metadata?: object; status?: object }]>([
    ['nothing in its status', { metadata: annotated('bot_of_another') }],
    ['what it only observed in its status', { metadata: annotated('bot_1'), status: { id: 'bot_1' } }],
    ['a part that it found as asked', { status: { compression: { applied: true }, ownership: {} } }],
    ['a policy that it found as asked', { status: { appliedPolicyHash: 'abc', ...owning({ parts: [] }) } }],
    ['what it made in an account of its own', { status: owning({ id: 'bot_1', account: 'CloudAccount/own' }) }],
  ])('a deleted resource with %s sends nothing there', (_, more) => {
    const gone = resource('b', { ...more, metadata: { ...more.metadata, ...going } });
    const failure = failureOf(gone);
    expect(failure).toBeInstanceOf(DependencyError);
    expect(users.mayHold(gone)).toBe(false);
    expect(reportFailure(failure)).toMatchObject({
      reason: 'DependencyNotReady',
      message: expect.stringMatching(/add the namespace to --default-account-namespaces .*force-orphan/),
    });
  });
});

import { expect, test } from '@jest/globals';
import { annotation } from '../../../reconcile/annotations.ts';
import { contextOf } from '../../../reconcile/context.fixture.ts';
import { doubtOf } from '../../../reconcile/external/census.ts';
import type { ManagedObject } from '../../../reconcile/resource.ts';
import { AccountFlow, type AccountFlowOptions } from './flow.ts';

/** When a person's word on an account was taken for that what vanished from it is gone, by what its users say. */
async function confirmedBy(message: string): Promise<number | undefined> {
  const account: { key: string; url: string; confirmedAt?: number } = { key: 'ns/a', url: 'https://api' };
  const ready = { type: 'Ready', status: 'False', reason: 'Unreachable', message, lastTransitionTime: '' };
  const user = { status: { conditions: [ready] } } as unknown as ManagedObject;
  const entry = { connection: account, whenRead: async () => {}, requireKey: () => 'key', passedSince: () => true };
  const options = {
    accounts: { entry: () => entry },
    mirrors: { stopOther: async () => {}, status: () => undefined, isRunning: () => false },
    dependents: { known: () => [user], enqueue: () => {} },
  } as unknown as AccountFlowOptions;
  const object: ManagedObject = {
    ...{ apiVersion: 'edge-operator.dev/v1alpha1', kind: 'CloudAccount' },
    metadata: { name: 'a', namespace: 'ns', uid: 'u', generation: 1, annotations: { [annotation.reconcileAt]: 'now' } },
    spec: { apiKeySecretRef: { name: 'key', key: 'key' } },
  };
  const connection = { key: 'ns/a', client: undefined };
  const asked = contextOf(object, { writer: { record: async () => object }, connection, now: () => 5 });
  const outcome = await new AccountFlow(options).ensure({
    ...asked,
    occasion: { ...asked.occasion, requested: false },
  });
  expect(outcome).toMatchObject({ reason: 'Available' });
  return account.confirmedAt;
}

test('what vanished is gone by a word on its account where somebody asked for that', async () => {
  expect(await confirmedBy(doubtOf({ present: 0, missing: 2 }) ?? '')).toBe(5);
});

test('and by no word that was about something else', async () => {
  expect(await confirmedBy('thing_1 was not found: making sure that it is gone')).toBeUndefined();
});

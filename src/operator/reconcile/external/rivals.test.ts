import { expect, test } from '@jest/globals';
import { annotation } from '../resource/annotations.ts';
import type { ManagedObject, ManagedSpec } from '../resource/resource.ts';
import { Claims } from './claims.ts';
import { Rivals } from './rivals.ts';

function thing(name: string, spec: Partial<ManagedSpec> = {}): ManagedObject {
  const annotations = { [annotation.externalID]: 'thing_1' };
  const metadata = { name, namespace: 'ns', uid: name, annotations };
  return { apiVersion: 'edge-operator.dev/v1alpha1', kind: 'Thing', metadata, spec: spec as never };
}

function conflictWith(rival: ManagedObject): string | undefined {
  const context = { resource: { object: thing('new') }, peers: { rivalOf: () => rival } } as never;
  return new Rivals(new Claims()).conflict(context, { displayName: 'thing' })?.message;
}

test('who is not to have it is told that it goes with the other one, and how it is handed over', () => {
  expect(conflictWith(thing('old'))).toMatch(
    /managed by Thing ns\/old: remove this one; or, .* spec.deletionPolicy of the other to Retain .* DELETED with it$/,
  );
});

test.each<Partial<ManagedSpec>>([{ deletionPolicy: 'Retain' }, { managementPolicy: 'Observe' }])(
  'either may go where it stays by the policy of who has it (%j)',
  (spec) => {
    expect(conflictWith(thing('old', spec))).toMatch(/: remove one of the two; the thing stays$/);
  },
);

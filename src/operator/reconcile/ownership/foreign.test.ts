import { expect, test } from '@jest/globals';
import type { ManagedObject } from '../resource/resource.ts';
import { report } from '../status/outcome.ts';
import { concludeForeign } from './foreign.ts';

const at = (generation: number): ManagedObject => ({
  apiVersion: 'edge-operator.dev/v1alpha1',
  kind: 'Domain',
  metadata: { name: 'a', namespace: 'ns', uid: 'u', generation },
  spec: {},
});

test('nothing counts as said, and then as put right, while the cache is behind what was read', async () => {
  const asked: string[] = [];
  const ask = (name: string) => {
    asked.push(name);
    return { kind: 'now' };
  };
  const options = { installation: { ask }, cache: { get: () => at(1) } } as never;
  expect(await concludeForeign(options, at(2), 'blue', report('Conflict', 'hands off'))).toEqual({ kind: 'backoff' });
  expect(asked).toEqual([]);
});

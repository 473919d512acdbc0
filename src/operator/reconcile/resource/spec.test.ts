import { expect, test } from '@jest/globals';
import { z } from 'zod';
import type { ManagedObject } from './resource.ts';
import { parseSpec } from './spec.ts';

const schema = z.object({ policy: z.looseObject({}).optional(), name: z.string().optional() });
const parse = (spec: string) => parseSpec(schema, { spec: JSON.parse(spec) } as ManagedObject);

test('a key that would be lost is refused, and its field named', () => {
  expect(parse('{"policy":{"rules":[{"__proto__":{"a":1}}]}}')).toMatchObject({
    report: { reason: 'Rejected', message: 'spec.policy: keys must not be __proto__' },
  });
  expect(parse('{"policy":{"rules":[{"proto":1}]},"name":"__proto__"}')).toEqual({
    spec: { policy: { rules: [{ proto: 1 }] }, name: '__proto__' },
  });
});

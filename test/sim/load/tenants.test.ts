import { expect, test } from '@jest/globals';
import { delaysOf, many, nobody } from './tenants.ts';

const bearableMs = 2_000;

// Within a window, and right after one; `npm run sim:tenants` tries more.
test.each([45, 61])(
  'what others ask for, %d s before, moves a change of a third tenant by no more than 2 s',
  async (seconds) => {
    const [alone, beside] = [await delaysOf(nobody, seconds * 1_000), await delaysOf(many, seconds * 1_000)];
    expect(Object.keys(beside)).toEqual(['own-edited', 'own-new', 'shared-edited', 'shared-new']);
    for (const [name, ms] of Object.entries(beside)) expect(ms - (alone[name] ?? 0)).toBeLessThan(bearableMs);
  },
);

import { expect, test } from '@jest/globals';
import { sortOf } from './sort.ts';

const of = (message: string) => sortOf({ oracle: 'one-object', at: 0, message });

test('names, ids and numbers do not matter, words do', () => {
  expect(of('ReservedAddr team-a/x has 2 objects: ra_1, ra_2')).toBe(of('ReservedAddr b/y-1 has 3 objects: ra_9'));
  expect(of('ReservedAddr team-a/x has no object')).not.toBe(of('ReservedAddr team-a/x has 2 objects: ra_1'));
});

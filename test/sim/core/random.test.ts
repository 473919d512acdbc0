import { expect, test } from '@jest/globals';
import { Chance } from './random.ts';

test('equal names give equal chance, other names other chance', () => {
  const draws = (chance: Chance) => Array.from({ length: 5 }, () => chance.next());
  expect(draws(new Chance('a', 1))).toEqual(draws(new Chance('a', 1)));
  expect(draws(new Chance('a', 1))).not.toEqual(draws(new Chance('a', 2)));
  const drawn = new Chance('a', 1);
  drawn.next();
  expect(draws(drawn.of('b'))).toEqual(draws(new Chance('a', 1).of('b')));
});

test('is spread evenly over what it is asked for', () => {
  const chance = new Chance('spread');
  const counts = [0, 0, 0, 0];
  for (let draw = 0; draw < 4_000; draw += 1) counts[chance.int(0, 3)] = (counts[chance.int(0, 3)] ?? 0) + 1;
  expect(Math.min(...counts)).toBeGreaterThan(850);
  expect(chance.shuffled([1, 2, 3, 4, 5]).toSorted()).toEqual([1, 2, 3, 4, 5]);
  expect(chance.uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

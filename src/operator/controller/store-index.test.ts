import { expect, test } from '@jest/globals';
import { StoreIndex } from './store-index.ts';

test('keys are found by each of their values, and no longer by those of before', () => {
  const index = new StoreIndex<readonly string[]>((values) => values);
  index.set('a', ['x']);
  index.set('b', ['x', 'y']);
  index.set('c', []);
  expect([index.keys('x'), index.keys('y'), index.keys('z')]).toEqual([['a', 'b'], ['b'], []]);
  index.set('a', ['y']);
  expect([index.keys('x'), index.keys('y')]).toEqual([['b'], ['b', 'a']]);
  index.delete('b');
  index.delete('b');
  expect([index.keys('x'), index.keys('y')]).toEqual([[], ['a']]);
  index.set('a', ['y', 'y']);
  expect(index.keys('y')).toEqual(['a']);
  index.delete('a');
  expect(index.keys('y')).toEqual([]);
});

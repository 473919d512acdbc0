import { expect, test } from '@jest/globals';
import { RecentSecrets } from './recent-secrets.ts';

test('the secrets that were sent last are known, up to a bound', () => {
  const recent = new RecentSecrets();
  recent.add(['a', 'b']);
  recent.add(['a']);
  expect(recent.all()).toEqual(['b', 'a']);
  recent.add(['x'.repeat(64 * 1024 - 1)]);
  expect(recent.all().map((secret) => secret[0])).toEqual(['a', 'x']);
  recent.add(['c']);
  expect(recent.all().map((secret) => secret[0])).toEqual(['x', 'c']);
  recent.add(Array.from({ length: 100 }, (_, index) => `s${index}`));
  expect(recent.all()).toEqual(Array.from({ length: 32 }, (_, index) => `s${index + 68}`));
});

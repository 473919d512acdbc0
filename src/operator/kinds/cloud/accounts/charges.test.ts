import { expect, test } from '@jest/globals';
import { systemRuntime } from '../../../../common/runtime.ts';
import { Limiter } from '../../../cloud/limiter.ts';
import { Charges } from './charges.ts';

const ledger = () => new Limiter({ ...systemRuntime, requestsPerMinute: 100 }).ledger;

/** By each of these names one was sent, just now. */
function chargesOf(...names: readonly string[]): Charges {
  const pastOf = () => [{ count: 1, endedAt: systemRuntime.monotonic.now() }];
  return new Charges({ pastOf }, names);
}

const [ours, sharer, before, stranger] = [
  'a/one https://x k1',
  'b/two https://x k1',
  'a/one https://x k0',
  'c https://x k2',
];

test('a budget is charged once with what was sent with its key, and for its account', () => {
  const charges = chargesOf(ours, sharer, before, stranger, 'a/one https://y k1');
  const budget = ledger();
  charges.charge(budget, ours);
  charges.charge(budget, ours);
  expect(budget.use.total).toBe(3);
});

test.each([
  ['first', [ours, sharer]],
  ['last', [sharer, ours]],
])('whoever of those that share it comes %s', (_, [first, second]) => {
  const charges = chargesOf(ours, sharer, before);
  const budget = ledger();
  charges.charge(budget, first as string);
  charges.charge(budget, second as string);
  expect(budget.use.total).toBe(3);
});

test('what another budget began with is not charged to this one again', () => {
  const charges = chargesOf(ours, before);
  const [one, next] = [ledger(), ledger()];
  charges.charge(one, before);
  charges.inherit(one, next);
  charges.charge(next, ours);
  expect(next.use.total).toBe(0);
});

test('thousands of accounts are charged without a pause', () => {
  const names = Array.from({ length: 5_000 }, (_, index) => `a/${index} https://x k${index}`);
  const charges = chargesOf(...names);
  const startedAt = performance.now();
  for (const name of names) charges.charge(ledger(), name);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

import { expect, test } from '@jest/globals';
import { cpuTimer } from '../../../../../test/support/elapsed.ts';
import { systemRuntime } from '../../../../common/runtime.ts';
import type { Ledger } from '../../../cloud/ledger.ts';
import { Limiter } from '../../../cloud/limiter.ts';
import { Charges } from './charges.ts';

const ledger = () => new Limiter({ ...systemRuntime, requestsPerMinute: 100 }).ledger;

const limits = { ofKey: 100, ofAccount: 100 };

/** By each of these names one was sent, just now. */
function chargesOf(...names: readonly string[]) {
  const charges = new Charges();
  const past = [{ count: 1, endedAt: systemRuntime.monotonic.now(), by: 'p' }];
  const record = { look: 1, starts: [], named: new Map(names.map((name) => [name, { open: 0, past }])) };
  return {
    charge: (budget: Ledger, name: string) => charges.charge(budget, name, record, limits),
    inherit: (from: Ledger, to: Ledger) => charges.inherit(from, to),
  };
}

const [ours, sharer, before, stranger] = [
  'a/one https://x s-k1',
  'b/two https://x s-k1',
  'a/one https://x s-k0',
  'c https://x s-k2',
];

test('a budget is charged once with what was sent with its key, and for its account', () => {
  const charges = chargesOf(ours, sharer, before, stranger, 'a/one https://y s-k1');
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
  const names = Array.from({ length: 5_000 }, (_, index) => `a/${index} https://x s-k${index}`);
  const charges = chargesOf(...names);
  const tookMs = cpuTimer();
  for (const name of names) charges.charge(ledger(), name);
  expect(tookMs()).toBeLessThan(2_000);
});

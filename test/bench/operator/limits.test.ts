import { expect, test } from '@jest/globals';
import type { Convergence } from './converge.ts';
import { quantile } from './figures.ts';
import { exceeded } from './limits.ts';
import type { Population } from './population.ts';

const bytes = 1_700_000;
const times = { readyMs: 1, firstPostMs: 1, cpuSeconds: 1, peakRss: 1 };
const asItIs: Convergence = {
  ...times,
  writes: { 'PATCH reservedaddrs': 20, 'PATCH reservedaddrs/status': 10, 'POST events': 10, 'PUT leases': 99 },
  calls: { 'POST reserved_addrs': 10 },
  duplicates: 0,
};
const start = { rss: 1, peakRss: 1, firstPostMs: 1, startCpuSeconds: 1, idleCpuSeconds: 1, editP50: 1, editP99: 1 };
const populated: Population = {
  ...start,
  count: 250,
  writes: { 'PATCH reservedaddrs': 2, 'PATCH reservedaddrs/status': 1 },
  calls: { 'GET reserved_addrs': 3, 'POST reserved_addrs': 1 },
};

test('what is as it was is no more than it may be', () => {
  expect(exceeded(10, [asItIs], [populated], bytes)).toEqual([]);
});

test.each<[string, Partial<Convergence>]>([
  ['a write more', { writes: { ...asItIs.writes, 'PATCH reservedaddrs': 21 } }],
  ['an update in place of a patch', { writes: { ...asItIs.writes, 'PUT reservedaddrs/status': 1 } }],
  ['an event more', { writes: { ...asItIs.writes, 'POST events': 11 } }],
  ['a call more', { calls: { ...asItIs.calls, 'GET reserved_addrs': 1 } }],
  ['a duplicate', { duplicates: 1 }],
])('%s is told', (_, more) => {
  expect(exceeded(10, [asItIs, { ...asItIs, ...more }], [populated], bytes)).toHaveLength(1);
});

test('so is what a start asks beyond its sweep, and a larger bundle', () => {
  const calls = { 'GET reserved_addrs': 4, 'POST reserved_addrs': 1 };
  expect(exceeded(10, [asItIs], [{ ...populated, calls }], 3_000_000)).toHaveLength(2);
});

test('a quantile is one of the values', () => {
  const values = [5, 1, 4, 2, 3];
  expect([0, 0.5, 0.99, 1].map((share) => quantile(values, share))).toEqual([1, 3, 5, 5]);
});

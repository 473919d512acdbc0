import { describe, expect, test } from '@jest/globals';
import { report } from '../status/outcome.ts';
import { type NamedReport, summarise } from './summary.ts';

const part = (name: string, own: NamedReport['report'], at = 0): NamedReport => ({
  name,
  condition: `${name}Ready`,
  report: own,
  at,
});
const fine = report('Available', 'fine');

describe('summarise', () => {
  test('all available: available, checked at the next resync', () => {
    expect(summarise([part('a', fine), part('b', fine)], 'whole', 0)).toMatchObject({
      reason: 'Available',
      message: 'whole',
      retry: { kind: 'resync' },
      parts: [{ condition: 'aReady' }, { condition: 'bReady' }],
    });
  });

  test('the first reason, and what is wrong with each', () => {
    const summary = summarise(
      [part('a', fine), part('b', report('Unreachable', 'x')), part('c', report('RateLimited', 'y'))],
      '',
      0,
    );
    expect(summary).toMatchObject({
      reason: 'Unreachable',
      message: 'b: x; c: y',
      stalled: false,
      retry: { kind: 'backoff' },
    });
  });

  test('one part that only a person can help stalls the whole, and the others are still retried', () => {
    const summary = summarise([part('a', report('Unreachable', 'x')), part('b', report('Rejected', 'y'))], '', 0);
    expect(summary).toMatchObject({ stalled: true, retry: { kind: 'backoff' } });
  });

  test.each([
    [{ kind: 'backoff', atLeastMs: 3_600_000 }, 600_000, { kind: 'backoff', atLeastMs: 3_000_000 }],
    [{ kind: 'backoff', atLeastMs: 3_600_000 }, 7_200_000, { kind: 'backoff', atLeastMs: 0 }],
    [{ kind: 'after', ms: 1_000 }, 400, { kind: 'after', ms: 600 }],
  ] as const)('a part asks for %j, and %d ms go by until the others are through', (retry, now, left) => {
    const limited = report('RateLimited', 'x', { retry });
    expect(summarise([part('a', limited), part('b', fine, now)], '', now).retry).toMatchObject(left);
  });

  test.each([
    [report('Unreachable', 'x'), fine, { kind: 'backoff', atLeastMs: 0, besides: { kind: 'resync' } }],
    [
      report('RateLimited', 'x', { retry: { kind: 'backoff', atLeastMs: 9_000 } }),
      report('Updating', 'y', { retry: { kind: 'after', ms: 3_000 } }),
      { kind: 'backoff', atLeastMs: 9_000, besides: { kind: 'after', ms: 3_000 } },
    ],
    [report('Unreachable', 'x'), report('Unreachable', 'y'), { kind: 'backoff', atLeastMs: 0 }],
  ])('one part in trouble does not hold up the others: %#', (one, other, retry) => {
    expect(summarise([part('a', one), part('b', other)], '', 0).retry).toEqual(retry);
  });

  test('a part that is the whole has no condition of its own', () => {
    const only: NamedReport = { name: 'policy', condition: undefined, report: report('Rejected', 'why'), at: 0 };
    expect(summarise([only], '', 0)).toMatchObject({ message: 'why', parts: [] });
  });
});

import { describe, expect, test } from '@jest/globals';
import { report } from '../outcome.ts';
import { type NamedReport, summarise } from './summary.ts';

const part = (name: string, own: NamedReport['report']): NamedReport => ({
  name,
  condition: `${name}Ready`,
  report: own,
});
const fine = report('Available', 'fine');

describe('summarise', () => {
  test('all available: available, checked at the next resync', () => {
    expect(summarise([part('a', fine), part('b', fine)], 'whole')).toMatchObject({
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
    );
    expect(summary).toMatchObject({
      reason: 'Unreachable',
      message: 'b: x; c: y',
      stalled: false,
      retry: { kind: 'backoff' },
    });
  });

  test('one part that only a person can help stalls the whole, and the others are still retried', () => {
    const summary = summarise([part('a', report('Unreachable', 'x')), part('b', report('Rejected', 'y'))], '');
    expect(summary).toMatchObject({ stalled: true, retry: { kind: 'backoff' } });
  });

  test('a part that is the whole has no condition of its own', () => {
    const only: NamedReport = { name: 'policy', condition: undefined, report: report('Rejected', 'why') };
    expect(summarise([only], '')).toMatchObject({ message: 'why', parts: [] });
  });
});

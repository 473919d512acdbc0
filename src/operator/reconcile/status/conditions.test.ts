import { describe, expect, test } from '@jest/globals';
import { conditionsFor } from './conditions.ts';
import { report } from './outcome.ts';
import { type Reason, reasons } from './reasons.ts';

const now = new Date('2026-01-01T00:00:00.123Z');
const later = new Date('2026-01-02T00:00:00Z');

describe('conditionsFor', () => {
  test('Available is Ready alone', () => {
    const [ready, ...rest] = conditionsFor(report('Available', 'fine'), 3, { previous: [], own: [], asked: [], now });
    expect(ready).toEqual({
      type: 'Ready',
      status: 'True',
      observedGeneration: 3,
      lastTransitionTime: '2026-01-01T00:00:00Z',
      reason: 'Available',
      message: 'fine',
    });
    expect(rest).toEqual([]);
  });

  const stalled: readonly Reason[] = [
    'Paused',
    'Unauthorized',
    'Rejected',
    'Conflict',
    'AmbiguousCreate',
    'ExternalNotFound',
    'DriftDetected',
    'OutcomeUnknown',
  ];
  test.each(reasons.filter((reason) => reason !== 'Available'))(
    '%s: never Ready, and either on its way or stalled',
    (reason) => {
      const [ready, second, ...rest] = conditionsFor(report(reason, 'why'), 1, {
        previous: [],
        own: [],
        asked: [],
        now,
      });
      expect(ready?.status).not.toBe('True');
      expect(second).toMatchObject({
        type: stalled.includes(reason) ? 'Stalled' : 'Reconciling',
        status: 'True',
        reason,
      });
      expect(rest).toEqual([]);
    },
  );

  test('lastTransitionTime stays while the status does, and moves with it', () => {
    const first = conditionsFor(report('Unreachable', 'a'), 1, { previous: [], own: [], asked: [], now });
    const second = conditionsFor(report('RateLimited', 'b'), 2, { previous: first, own: [], asked: [], now: later });
    expect(second[0]).toMatchObject({
      lastTransitionTime: '2026-01-01T00:00:00Z',
      reason: 'RateLimited',
      observedGeneration: 2,
    });
    expect(
      conditionsFor(report('Available', 'c'), 2, { previous: second, own: [], asked: [], now: later })[0]
        ?.lastTransitionTime,
    ).toBe('2026-01-02T00:00:00Z');
  });

  test('what keeps the whole from getting ready keeps each part that is known, and others’ conditions stay', () => {
    const parts = [{ condition: 'SamlReady', report: report('Available', 'fine') }];
    const first = conditionsFor(report('Available', 'fine', { parts }), 1, {
      previous: [],
      own: ['SamlReady'],
      asked: [],
      now,
    });
    const audited = { ...(first[0] as (typeof first)[number]), type: 'Audited' };
    const options = {
      previous: [...first, audited],
      own: ['SamlReady', 'CompressionReady'],
      asked: ['SamlReady'],
      now: later,
    };
    expect(conditionsFor(report('Paused', 'no call'), 1, options)).toMatchObject([
      { type: 'Ready', status: 'Unknown', reason: 'Paused' },
      { type: 'Stalled' },
      { type: 'SamlReady', status: 'Unknown', reason: 'Paused', message: 'no call' },
      audited,
    ]);
    // What is asked for no more has no condition.
    expect(conditionsFor(report('Available', 'fine', { parts: [] }), 1, options).map(({ type }) => type)).toEqual([
      'Ready',
      'Audited',
    ]);
    expect(conditionsFor(report('Available', 'fine'), 1, options).map(({ type }) => type)).toEqual([
      'Ready',
      'Audited',
    ]);
  });
});

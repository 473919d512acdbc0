import { describe, expect, test } from '@jest/globals';
import { ApiError, type ApiErrorOptions } from '../../../common/http/errors.ts';
import { DependencyError, MissingError, reportFailure, UnrecordedError } from './outcome.ts';

function failure(fields: Partial<ApiErrorOptions> & Pick<ApiErrorOptions, 'reason'>): ApiError {
  return new ApiError('what happened', { definite: true, ...fields });
}

test('what a person need not look at says so', () => {
  expect(reportFailure(new DependencyError('on its way', { isPending: true }))).toMatchObject({ isPending: true });
});

describe('an error becomes a reason and a retry', () => {
  const cases: readonly [error: Error, reason: string, stalled: boolean, retry: object, pauseMs?: number][] = [
    [new UnrecordedError('no record'), 'DependencyNotReady', false, { kind: 'backoff' }],
    [failure({ reason: 'Unreachable' }), 'Unreachable', false, { kind: 'backoff' }],
    [
      failure({ reason: 'Unreachable', retryAfterMs: 7_000 }),
      'Unreachable',
      false,
      { kind: 'backoff', atLeastMs: 7_000 },
    ],
    [
      failure({ reason: 'RateLimited', retryAfterMs: 30_000 }),
      'RateLimited',
      false,
      { kind: 'backoff', atLeastMs: 30_000 },
    ],
    [failure({ reason: 'Unauthorized' }), 'Unauthorized', true, { kind: 'backoff', atLeastMs: 10_000 }],
    [failure({ reason: 'Rejected' }), 'Rejected', true, { kind: 'after', ms: 600_000 }],
    [failure({ reason: 'Rejected', retryAfterMs: 1 }), 'Rejected', true, { kind: 'after', ms: 600_000 }],
    [
      failure({ reason: 'Unauthorized', isForbidden: true }),
      'Unauthorized',
      true,
      { kind: 'backoff', atLeastMs: 10_000 },
      60_000,
    ],
    [failure({ reason: 'Conflict' }), 'Conflict', false, { kind: 'backoff' }, 5_000],
    [failure({ reason: 'NotFound' }), 'ExternalNotFound', false, { kind: 'backoff' }, 5_000],
    [new DependencyError('no account'), 'DependencyNotReady', false, { kind: 'backoff' }],
    [new MissingError('no route'), 'DependencyNotReady', false, { kind: 'backoff' }, 5_000],
  ];
  test.each(cases)('%#: %s', (...[error, reason, stalled, retry, pauseMs]) => {
    const { message } = error;
    expect(reportFailure(error)).toEqual({ kind: 'reported', reason, message, stalled, retry, pauseMs });
  });

  test('anything else is a bug or the API server’s business, and is not swallowed', () => {
    const bug = new TypeError('undefined is not a function');
    expect(() => reportFailure(bug)).toThrow(bug);
  });
});

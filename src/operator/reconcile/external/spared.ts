import type { Call } from '../../../common/priority.ts';
import { isCallFailure } from './contract.ts';

/** Not longer than whoever asks waits before it asks again. */
const firstPauseMs = 500;
const longestPauseMs = 10_000;

type List<T> = (call: Call) => AsyncIterable<T>;

/**
 * A list that failed is not sent again for a while, later and later, but fails alike for whoever asks: hundreds of
 * resources must not each find out for themselves, at the expense of the account's budget, that the service is away.
 */
export function spared<T>(list: List<T>, now: () => number): List<T> {
  let failed: { readonly error: unknown; readonly until: number; readonly times: number } | undefined;
  return async function* (call) {
    if (failed !== undefined && now() < failed.until) throw failed.error;
    try {
      yield* list(call);
      failed = undefined;
    } catch (error) {
      // A key that was refused may be replaced at any moment, and is then to be tried at once.
      if (isCallFailure(error) && error.reason === 'Unauthorized') throw error;
      const times = (failed?.times ?? 0) + 1;
      failed = { error, until: now() + Math.min(firstPauseMs * 2 ** (times - 1), longestPauseMs), times };
      throw error;
    }
  };
}

import type { Effect } from '../../core/network.ts';
import type { Answer } from '../../core/server.ts';

/** The gateway's answer, in place of the call or of its answer. */
export function insteadOf(answer: Answer, carriedOut: boolean): Effect {
  return carriedOut ? { change: () => answer } : { instead: answer };
}

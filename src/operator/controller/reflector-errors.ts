import { isGone, KubeConnectionError, KubeError } from '../kube/errors.ts';

/**
 * What a failed list or watch means:
 * - `expired`: the point to resume from is gone, or is one of another history, list again;
 * - `retry`: nothing is wrong with the request, go on from the same point;
 * - `refused`: the server does not take the request as it is.
 */
export type Verdict = 'expired' | 'retry' | 'refused';

/** Not permitted, in conflict with nothing that we ask, overloaded: the same request may be answered later. */
const passing: ReadonlySet<number> = new Set([401, 403, 408, 409, 429]);

/** What was read, or is resumed, is of a history that the server has no more. */
export class GoneBackError extends Error {
  override readonly name = 'GoneBackError';

  constructor() {
    super('the server has gone back in time');
  }
}

export function classify(error: unknown): Verdict {
  if (isGone(error) || isTooLarge(error) || error instanceof GoneBackError) return 'expired';
  if (error instanceof KubeConnectionError) return 'retry';
  if (error instanceof KubeError && (error.status >= 500 || passing.has(error.status))) return 'retry';
  return 'refused';
}

/** The server has not got that far: it came back from a backup, or lags behind another one. */
function isTooLarge(error: unknown): boolean {
  return error instanceof KubeError && error.causes.some((cause) => cause.reason === 'ResourceVersionTooLarge');
}

import type { Call } from '../../common/call.ts';
import { BehindError } from './status/outcome.ts';

/** A call that may wait for its turn for minutes, and is not sent where that is so by then: it is decided anew. */
export function unless(call: Call, isSo: () => boolean, why: string): Call {
  const permit = () => {
    call.permit?.();
    if (isSo()) throw new BehindError(`not sent: ${why}`);
  };
  return { ...call, permit };
}

/**
 * A call that changes or removes what somebody else may have by then. What its own resource asks for by then ends the wait by
 * itself.
 */
export function unlessTaken(call: Call, isTaken: () => boolean): Call {
  return unless(call, isTaken, 'another resource may have it by now');
}

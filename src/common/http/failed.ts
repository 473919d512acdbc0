import { CloudTransportError } from './errors.ts';
import { failureOf } from './failure.ts';

/** The request was not sent: the caller gave up or forbade it. */
export function notSent(operation: string, cause: unknown): CloudTransportError {
  const why = cause instanceof Error ? cause.message : '';
  return new CloudTransportError(`not sent: ${why || 'the call was given up'}`, {
    operation,
    reason: 'Unreachable',
    definite: true,
    cause,
  });
}

/** The request failed on its way; definite only where nothing of it can have arrived. */
export function failed(operation: string, cause: unknown): CloudTransportError {
  const { message, notSent } = failureOf(cause);
  return new CloudTransportError(message, { operation, reason: 'Unreachable', definite: notSent, cause });
}

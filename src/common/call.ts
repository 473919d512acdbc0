import type { Priority } from './priority.ts';

/** Waits for what is not ours to speed up, and holds nothing meanwhile that others need. */
export type Away = <T>(wait: () => Promise<T>) => Promise<T>;

/** What a call to a service is given by whoever asks for it. */
export interface Call {
  readonly priority: Priority;
  /** Of what the call is for: the namespaces that use an account take turns. */
  readonly namespace?: string | undefined;
  /** Ends the wait for the budget. What was sent is always seen through: its effect is not undone by looking away. */
  readonly signal?: AbortSignal | undefined;
  /** Throws where it is not to be sent any more by then, as when the account that it goes through may not be used now. */
  readonly permit?: (() => void) | undefined;
  /** How whoever asks waits, for its turn and for the answer. Default: holding on to all it has. */
  readonly away?: Away | undefined;
  /** What the client has given for it ahead, see {@link Reserved}; means nothing to others. */
  readonly reservation?: object | undefined;
}

/** The right to make one call without waiting; given back when it is disposed of unused. */
export interface Reserved extends Disposable {
  /** The call that has it. */
  readonly call: Call;
}

/** Waits as whoever asks wants to wait. */
export function waitAway<T>({ away }: Pick<Call, 'away'>, wait: () => Promise<T>): Promise<T> {
  return away === undefined ? wait() : away(wait);
}

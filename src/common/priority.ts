/**
 * Who goes first, in queues and for an account's budget: `change`, what a user asked for, and deletes; `first`, what
 * has never been observed; `resync`, what is looked at again for drift.
 */
export const priorities = ['change', 'first', 'resync'] as const;

export type Priority = (typeof priorities)[number];

/** What a call to a service is given by whoever asks for it. */
export interface Call {
  readonly priority: Priority;
  /** Ends the wait for the budget. What was sent is always seen through: its effect is not undone by looking away. */
  readonly signal?: AbortSignal | undefined;
}

export function rankOf(priority: Priority): number {
  return priorities.indexOf(priority);
}

export function moreUrgent(a: Priority, b: Priority): Priority {
  return rankOf(a) <= rankOf(b) ? a : b;
}

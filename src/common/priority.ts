/**
 * Who goes first, in queues and for an account's budget: `change`, what a user asked for, and deletes; `first`, what
 * has never been observed; `resync`, what is looked at again for drift.
 */
export const priorities = ['change', 'first', 'resync'] as const;

export type Priority = (typeof priorities)[number];

export function rankOf(priority: Priority): number {
  return priorities.indexOf(priority);
}

export function moreUrgent(a: Priority, b: Priority): Priority {
  return rankOf(a) <= rankOf(b) ? a : b;
}

/** Who goes first: what a user changed, then what has never been observed, then what is looked at again. */
export type Priority = 'change' | 'first' | 'resync';

export const priorities: readonly Priority[] = ['change', 'first', 'resync'];

export function rankOf(priority: Priority): number {
  return priorities.indexOf(priority);
}

export function moreUrgent(a: Priority, b: Priority): Priority {
  return rankOf(a) <= rankOf(b) ? a : b;
}

/** `change`: what a user asked for, and deletes. `first`: the first observation of an object. `resync`: drift. */
export const priorities = ['change', 'first', 'resync'] as const;

export type Priority = (typeof priorities)[number];

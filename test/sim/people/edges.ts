/**
 * Which edges and routes of the surroundings, by their number, whose sets of modules are of: each its own, so that nobody
 * comes into the way of another but who means to. The plain scene has those up to 3 in each account.
 */
export const edgeOf = {
  imports: 4,
  sharedKey: 5,
  namespacesDeleted: 6,
  /** And the next. */
  sharedParents: 7,
  twoAccountsTwoOperators: 9,
  absentImports: 10,
  olderDormant: 11,
  /** In the account of somebody else. */
  annotationsForged: 11,
} as const;

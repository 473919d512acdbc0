/** Every reason that a condition can carry; design section 4. */
export const reasons = [
  'Available',
  'Creating',
  'Updating',
  'Deleting',
  'Paused',
  'DependencyNotReady',
  'RateLimited',
  'Unauthorized',
  'Unreachable',
  'Rejected',
  'Conflict',
  'AmbiguousCreate',
  'ExternalNotFound',
  'DriftDetected',
] as const;

export type Reason = (typeof reasons)[number];

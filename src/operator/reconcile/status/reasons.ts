/** Every reason that a condition can carry; docs/conditions.md says what each means. */
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
  'OutcomeUnknown',
] as const;

export type Reason = (typeof reasons)[number];

export function isReason(text: string): text is Reason {
  return (reasons as readonly string[]).includes(text);
}

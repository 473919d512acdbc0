import { annotation } from '../resource/annotations.ts';
import type { Reason } from '../status/reasons.ts';
import type { Difference } from './contract.ts';

export interface Situation {
  readonly displayName: string;
  readonly managementPolicy: 'Manage' | 'Observe';
  /** The recorded external id, if any. */
  readonly id: string | undefined;
  /** The id was set by a person, not by a create of this operator. */
  readonly imported: boolean;
  /** It was imported and then managed: the resource stands for nothing else. */
  readonly owned: boolean;
  readonly exists: boolean;
  /** Empty unless it exists. */
  readonly differences: readonly Difference[];
}

export type Action =
  | { readonly kind: 'none' }
  | { readonly kind: 'create' }
  | { readonly kind: 'update'; readonly fields: readonly string[] }
  | { readonly kind: 'stop'; readonly reason: Reason; readonly message: string };

/** What to do about the difference between what is requested for and what is out there. Pure. */
export function decide(s: Situation): Action {
  const observeOnly = s.managementPolicy === 'Observe';
  if (s.id === undefined) return observeOnly ? stop('ExternalNotFound', nothingToObserve(s)) : { kind: 'create' };
  if (!s.exists) return observeOnly || s.imported ? stop('ExternalNotFound', vanished(s)) : { kind: 'create' };
  if (s.differences.length === 0) return { kind: 'none' };
  const fields = s.differences.map((difference) => difference.field);
  if (observeOnly) return stop('DriftDetected', differs(s, fields));
  const fixed = s.differences.filter((difference) => difference.immutable !== undefined);
  if (fixed.length > 0) return stop('Rejected', cannotChange(s, fixed));
  return { kind: 'update', fields };
}

function stop(reason: Reason, message: string): Action {
  return { kind: 'stop', reason, message };
}

function nothingToObserve(s: Situation): string {
  return `managementPolicy is Observe and nothing is named: set the annotation ${annotation.externalID} to the id of the ${s.displayName}, or delete this resource and create one that has it`;
}

function vanished(s: Situation): string {
  const creates = s.managementPolicy === 'Manage' && !s.owned;
  const remedy = `correct the annotation ${annotation.externalID}${creates ? ', remove it to create one' : ''}`;
  // Who may not change the annotation later may do this.
  return `${s.displayName} ${s.id} does not exist: ${remedy}, or delete this resource and create another`;
}

function differs({ displayName, id }: Situation, fields: readonly string[]): string {
  const remedy = 'change the spec or the object, or set spec.managementPolicy to Manage';
  return `${displayName} ${id} differs in ${fields.join(', ')}: ${remedy}`;
}

/** Neither there nor in the spec. */
function cannotChange({ displayName, id }: Situation, fixed: readonly Difference[]): string {
  const what = fixed.map(
    (difference) => `spec.${difference.field} is ${difference.immutable} there and cannot be changed`,
  );
  return `${displayName} ${id}: ${what.join('; ')}: set deletionPolicy to Retain, delete this resource, and create one with that`;
}

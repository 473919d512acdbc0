import type { Reason } from '../status/reasons.ts';

/** What one part is, seen from outside and inside. */
export interface PartSituation {
  readonly displayName: string;
  readonly managementPolicy: 'Manage' | 'Observe';
  /** The spec names the part. */
  readonly named: boolean;
  /** This resource has it on record that it applied the part. */
  readonly applied: boolean;
  readonly exists: boolean;
  /** Names of the fields that differ; empty unless it exists. */
  readonly differences: readonly string[];
  /** The spec set fields that it sets no more: what is out there does not tell, for the service may have chosen that itself. */
  readonly setMore: boolean;
  /** Why the service would refuse it. */
  readonly refusal: string | undefined;
}

export type PartAction =
  | { readonly kind: 'none' }
  | { readonly kind: 'replace'; readonly fields: readonly string[] }
  | { readonly kind: 'delete' }
  | { readonly kind: 'stop'; readonly reason: Reason; readonly message: string };

/** What to do about one part. Pure. */
export function planPart(s: PartSituation): PartAction {
  const observeOnly = s.managementPolicy === 'Observe';
  if (!s.named) return s.applied && !observeOnly ? { kind: 'delete' } : { kind: 'none' };
  if (observeOnly) return observed(s);
  if (s.exists && s.differences.length === 0 && !s.setMore) return { kind: 'none' };
  if (s.refusal !== undefined) return { kind: 'stop', reason: 'Rejected', message: s.refusal };
  return { kind: 'replace', fields: s.differences };
}

function observed({ displayName, exists, differences }: PartSituation): PartAction {
  if (!exists)
    return { kind: 'stop', reason: 'ExternalNotFound', message: `there is no ${displayName}: create it, ${orManage}` };
  if (differences.length === 0) return { kind: 'none' };
  const message = `the ${displayName} differs in ${differences.join(', ')}: change the spec or the module, ${orManage}`;
  return { kind: 'stop', reason: 'DriftDetected', message };
}

const orManage = 'or set spec.managementPolicy to Manage';

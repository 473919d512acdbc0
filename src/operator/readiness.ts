import { type Condition, conditionOf, type ManagedObject } from './reconcile/resource/resource.ts';
import { isReason } from './reconcile/status/reasons.ts';

/** A kind, as far as it says how its resources do. */
interface Followed {
  readonly kind: string;
  readonly resources: {
    readonly missing: boolean;
    readonly synced: boolean;
    list(): readonly ManagedObject[];
  };
}

/** Why the kinds cannot all be worked on; undefined when they can. */
export function unready(kinds: readonly Followed[]): string | undefined {
  const named = (matches: (kind: Followed) => boolean) =>
    kinds
      .filter(matches)
      .map(({ kind }) => kind)
      .join(', ');
  const missing = named(({ resources }) => resources.missing);
  if (missing !== '') return `not served by the API server: ${missing}; are their definitions installed?`;
  const waiting = named(({ resources }) => !resources.synced);
  return waiting === '' ? undefined : `not synced yet: ${waiting}`;
}

/** Added up here: there may be a hundred thousand, and a dozen states. */
export function readinessOf({ kind, resources }: Followed) {
  const counts = new Map<string, { readonly labels: { kind: string; ready: string; reason: string }; value: number }>();
  for (const object of resources.list()) {
    const condition = conditionOf(object, 'Ready');
    const ready = condition?.status ?? 'Unknown';
    const reason = knownReason(condition);
    const count = counts.get(`${ready} ${reason}`) ?? { labels: { kind, ready, reason }, value: 0 };
    count.value += 1;
    counts.set(`${ready} ${reason}`, count);
  }
  return [...counts.values()];
}

/** Whoever may write a status could write anything there. */
function knownReason(condition: Condition | undefined): string {
  // Waits for its first turn: an alert without a reason would leave people to guess.
  if (condition === undefined) return 'Pending';
  return isReason(condition.reason) ? condition.reason : 'other';
}

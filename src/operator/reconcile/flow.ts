import type { ReconcileContext } from './context.ts';
import { appliedParts, ownedIDOf } from './ownership/ownership.ts';
import type { CurrentResource } from './resource/current-resource.ts';
import type { ManagedObject, Ownership } from './resource/resource.ts';
import type { Outcome } from './status/outcome.ts';

/**
 * How a kind brings the outside in line with a resource; what all kinds share is the reconciler's. A kind has what it
 * needs: one without `remove` leaves nothing outside, one without `claims` has no rivals.
 */
export interface Flow<Client> {
  /** Makes the outside be as the spec asks. May throw an ApiError or a DependencyError. */
  ensure(context: ReconcileContext<Client>): Promise<Outcome>;
  /** Removes what the deleted resource made; `finished` when that is confirmed: then the resource is let go. May throw as `ensure`. */
  remove?(context: ReconcileContext<Client>): Promise<Outcome>;
  /** Nothing of the deleted resource is to be removed outside: by its policy, or because it never made anything. */
  leavesNothing?(object: ManagedObject): boolean;
  /** What stays outside when the resource goes by force or by policy. */
  leftBehind?(object: ManagedObject): string;
  /**
   * What the resource began to make is not known to be there yet, nor not to be. That is found out in the account in which it was
   * begun, whatever the spec names by now; nothing is made there any more.
   */
  isBegun?(object: ManagedObject): boolean;
  /**
   * Another installation took the resource over, and has written no record yet: puts on record what this process began to make for
   * it, and nobody else can know.
   */
  handOver?(resource: CurrentResource): Promise<void>;
  /** Another installation manages the resource, or it is let go: what runs for it beside its reconciles ends. */
  standDown?(object: ManagedObject): void;
  /** Types of the conditions beside Ready that the kind's resources may have. */
  readonly conditions?: readonly string[];
  /** Of those, what this resource has by its spec, whatever becomes of it. */
  conditionsOf?(object: ManagedObject): readonly string[];
  /** What is on record of a resource of which nothing was found out, but what its spec asks for; default what was before. */
  ownershipOf?(object: ManagedObject): Ownership;
  /** Index values of the external objects that a resource holds: two resources of one value are rivals. */
  claims?(object: ManagedObject): readonly string[];
  /** Nothing will ever be done for the resource again, so that there is nothing to pause, nor to dispute. */
  isOver?(object: ManagedObject): boolean;
  /** The resource has gone from Kubernetes; before `forget`. */
  gone?(object: ManagedObject): void;
  /** The resource has gone, or is another replica's from now on: nothing of it need be remembered. */
  forget?(object: ManagedObject): void;
  /** The process stops. */
  close?(): void;
}

/** By policy, a deleted resource is not to touch what it stands for. */
export function isKept(object: ManagedObject): boolean {
  return keepingPolicy(object) !== undefined;
}

/** What the resource owns stays outside by its policy when it is deleted; what it only observes is nobody's concern. */
export function leftByPolicy(flow: Pick<Flow<never>, 'leftBehind'>, object: ManagedObject): string | undefined {
  const isOwner = ownedIDOf(object) !== undefined || appliedParts(object).size > 0;
  const policy = isOwner ? keepingPolicy(object) : undefined;
  return policy === undefined ? undefined : `${flow.leftBehind?.(object)} is left behind: ${policy}`;
}

function keepingPolicy({ spec }: ManagedObject): string | undefined {
  if (spec.managementPolicy === 'Observe') return 'managementPolicy is Observe';
  return spec.deletionPolicy === 'Retain' ? 'deletionPolicy is Retain' : undefined;
}

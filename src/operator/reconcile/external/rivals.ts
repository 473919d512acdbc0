import type { ReconcileContext } from '../context.ts';
import { isKept } from '../flow.ts';
import { claimOf, ownershipOf, rivalName, standingOn } from '../ownership/ownership.ts';
import { hasIntent } from '../resource/annotations.ts';
import type { ManagedObject } from '../resource/resource.ts';
import { type Report, report } from '../status/outcome.ts';
import type { Claims } from './claims.ts';

type Context = Pick<ReconcileContext<unknown>, 'resource' | 'peers'>;

/** Of several resources that name one external object, whose it is: by their records, and by what was made just now. */
export class Rivals {
  readonly #claims: Claims;

  constructor(claims: Claims) {
    this.#claims = claims;
  }

  /** Why the resource cannot have what it claims; undefined where it can. */
  conflict(context: Context, { displayName }: { readonly displayName: string }): Report | undefined {
    const { object } = context.resource;
    const [id] = claimOf(object);
    const rival = id === undefined ? undefined : this.#rivalOf(context, id);
    if (rival === undefined) return undefined;
    const name = rivalName(object, rival);
    return report('Conflict', `the ${displayName} is managed by ${name}: ${wayOut(displayName, rival)}`);
  }

  /** Who has a better claim to it. */
  #rivalOf(context: Context, id: string): ManagedObject | undefined {
    const { resource, peers } = context;
    return peers.rivalOf(resource.object, id, standingOn(id), 'address') ?? this.#makerOf(context, id);
  }

  /** Whose it is to delete, where that is another one. */
  keeperOf(context: Context, id: string): ManagedObject | undefined {
    const { resource, peers } = context;
    return peers.keeperOf(resource.object, id, standingOn(id), 'address') ?? this.#makerOf(context, id);
  }

  /** Who made it just now, of which the cache of resources knows nothing yet. */
  #makerOf({ resource: { object }, peers }: Context, id: string): ManagedObject | undefined {
    const holder = this.#claims.holderOf(id);
    if (holder === undefined || holder === object.metadata.uid || ownershipOf(object).id === id) return undefined;
    return peers.list().find((each) => each.metadata.uid === holder && hasIntent(each));
  }
}

/** Who reads that one of the two is to go would otherwise remove the one that has it, and the object with it. */
function wayOut(displayName: string, rival: ManagedObject): string {
  if (isKept(rival)) return `remove one of the two; the ${displayName} stays`;
  return (
    `remove this one; or, to hand the ${displayName} over, set spec.deletionPolicy of the other to Retain and then remove ` +
    'that: without Retain it is DELETED with it'
  );
}

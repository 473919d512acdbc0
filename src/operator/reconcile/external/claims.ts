import { claimOf, ownedIDOf, ownershipOf } from '../ownership/ownership.ts';
import type { Peers } from '../ownership/peers.ts';
import type { ManagedObject } from '../resource/resource.ts';

/** So many are remembered: what is let go within a minute or two. */
const mostFormer = 1_000;

/**
 * Creates of one kind on their way, and whose an object is between its creation and the record of it. Of all accounts:
 * two of them may be one, by their key.
 */
export class Claims {
  /** uid of a resource -> external id. */
  readonly #ids = new Map<string, string>();
  /** The other way round. */
  readonly #holders = new Map<string, string>();
  /** What somebody had: it was deleted, or the resource of this uid went and left it. The latest last. */
  readonly #former = new Map<string, string | undefined>();
  /** uid of a resource -> content of its create under way. */
  readonly #creating = new Map<string, string>();

  /** Runs one create, so that look-ups for lost creates of equal content know of it. */
  async creating<T>(uid: string, content: string, create: () => Promise<T>): Promise<T> {
    this.#creating.set(uid, content);
    try {
      return await create();
    } finally {
      this.#creating.delete(uid);
    }
  }

  isCreating(uid: string, content: string): boolean {
    return this.#creating.get(uid) === content;
  }

  claim(uid: string, id: string): void {
    this.unclaim(uid);
    this.#ids.set(uid, id);
    this.#holders.set(id, uid);
  }

  unclaim(uid: string): void {
    const id = this.#ids.get(uid);
    this.#ids.delete(uid);
    if (id !== undefined && this.#holders.get(id) === uid) this.#holders.delete(id);
  }

  /** The object that a resource made or adopted and that may not be on record yet. */
  claimOf(uid: string): string | undefined {
    return this.#ids.get(uid);
  }

  /** The uid of the resource that claims it. */
  holderOf(id: string): string | undefined {
    return this.#holders.get(id);
  }

  /** @param leaver the uid of the resource that went; none where the object itself was deleted, which counts for ever */
  letGo(id: string, leaver?: string): void {
    if (leaver === undefined || !this.#former.has(id)) this.#former.set(id, leaver);
    const [oldest = id] = this.#former.keys();
    if (this.#former.size > mostFormer) this.#former.delete(oldest);
  }

  /** It is somebody's, or was. */
  isTaken(id: string): boolean {
    return this.#holders.has(id) || this.#former.has(id);
  }

  /**
   * What is somebody's, or was: a list that lags shows what was deleted, and any what was left on purpose.
   *
   * @param uid of a resource that may have been away: only a restored cluster has it back, which may know of its create alone
   */
  takenIDs(uid?: string): ReadonlySet<string> {
    const former = [...this.#former].filter(([, leaver]) => leaver === undefined || leaver !== uid);
    return new Set([...this.#ids.values(), ...former.map(([id]) => id)]);
  }
}

/**
 * What others than this resource hold: what is proven to be theirs, and in the same account what annotations say is, or name. Who
 * only observes what he names holds nothing.
 */
export function heldByOthers(
  object: ManagedObject,
  all: readonly ManagedObject[],
  peers: Pick<Peers, 'isOneAccount'>,
): readonly string[] {
  return othersThan(object, all).flatMap((other) => {
    const proven = ownershipOf(other).id;
    return proven ?? (peers.isOneAccount(other, object) ? namedBy(other) : []);
  });
}

/** What annotations say is another's, or name, whose account may turn out to be the same one. */
export function mayBeHeldByOthers(
  object: ManagedObject,
  all: readonly ManagedObject[],
  peers: Pick<Peers, 'isUnread'>,
): readonly string[] {
  return othersThan(object, all)
    .filter((other) => peers.isUnread(other))
    .flatMap(namedBy);
}

function othersThan({ metadata: { uid } }: ManagedObject, all: readonly ManagedObject[]): readonly ManagedObject[] {
  return all.filter(({ metadata }) => metadata.uid !== uid);
}

function namedBy(object: ManagedObject): readonly string[] {
  const owned = ownedIDOf(object);
  return owned === undefined ? claimOf(object) : [owned];
}

import type { Referent } from './referent.ts';
import type { Referents } from './referents.ts';
import { sameValue, type Value } from './values.ts';

export type { Referent } from './referent.ts';

/** A value that lives in another object of the resource's own namespace. */
export interface Reference {
  readonly kind: 'Secret' | 'ConfigMap';
  readonly name: string;
  readonly key: string;
}

/** What one resource reads in one reconcile. */
export interface ReferenceSession {
  /** The value as text. Throws DependencyError, naming what is missing. */
  read(reference: Reference): Promise<string>;
  /** Something that was read has become otherwise since. Tells it from what is known: nothing is read for it. */
  hasChanged(): boolean;
  /** What was not read in this session is not referred to any more. */
  end(): void;
}

export interface ReferencesOptions {
  /** Shared by all kinds of this operator. */
  readonly referents: Referents;
  /** The resource of this key refers to what was read for the first time (`initial`), or has changed. */
  readonly enqueue: (user: string, initial: boolean) => void;
}

/**
 * What resources of one kind refer to in Secrets and ConfigMaps: what nobody refers to is never read, however much of it
 * there is. A change of a value enqueues the resources that refer to it.
 */
export class References {
  readonly #referents: Referents;
  readonly #owner: Pick<ReferencesOptions, 'enqueue'>;
  readonly #following = new Map<string, Set<Referent>>();

  constructor({ referents, enqueue }: ReferencesOptions) {
    this.#referents = referents;
    this.#owner = { enqueue };
  }

  /** @param user key of the resource (`namespace/name`); it can name objects of its own namespace only */
  session(user: string): ReferenceSession {
    const read = new Map<Referent, Set<string>>();
    const values: (readonly [referent: Referent, key: string, as: Value])[] = [];
    return {
      read: async (reference) => {
        const referent = this.follow(user, reference);
        read.set(referent, (read.get(referent) ?? new Set()).add(reference.key));
        await referent.whenRead();
        values.push([referent, reference.key, referent.valueOf(reference.key)]);
        return referent.readWhole(reference.key);
      },
      hasChanged: () => values.some(([referent, key, as]) => !sameValue(referent.valueOf(key), as)),
      end: () => {
        this.#release(user, new Set(read.keys()));
        for (const [referent, keys] of read) referent.keep(this.#owner, user, keys);
      },
    };
  }

  /** What the resource refers to, until it is forgotten. */
  follow(user: string, { kind, name, key }: Reference): Referent {
    const referent = this.#referents.at(kind, namespaceOf(user), name);
    const following = this.#following.get(user) ?? new Set();
    this.#following.set(user, following.add(referent));
    referent.follow(this.#owner, user, key);
    return referent;
  }

  /** The resource is gone, or refers to nothing but `kept`. */
  forget(user: string, kept?: Referent): void {
    this.#release(user, new Set(kept === undefined ? [] : [kept]));
  }

  close(): void {
    for (const user of [...this.#following.keys()]) this.forget(user);
  }

  #release(user: string, kept: ReadonlySet<Referent>): void {
    const following = this.#following.get(user);
    for (const referent of following ?? []) {
      if (kept.has(referent)) continue;
      following?.delete(referent);
      referent.unfollow(this.#owner, user);
      this.#referents.letGo(referent);
    }
    if (following?.size === 0) this.#following.delete(user);
  }
}

function namespaceOf(user: string): string {
  return user.slice(0, user.indexOf('/'));
}

import type { Call } from '../../../common/priority.ts';
import { Observations } from '../cache.ts';
import { spared } from './spared.ts';

/**
 * What this process knows of one account's objects of one kind beyond what Kubernetes has on record: observations,
 * creates on their way, and whose an object is between its creation and the record of it.
 */
export class Ledger<Observed> {
  readonly observations: Observations<Observed>;
  /** uid of a resource -> external id. */
  readonly #claims = new Map<string, string>();
  /** uid of a resource -> content of its create under way. */
  readonly #creating = new Map<string, string>();

  constructor(options: {
    list: (call: Call) => AsyncIterable<Observed>;
    idOf: (observed: Observed) => string;
    now: () => number;
  }) {
    this.observations = new Observations({ ...options, list: spared(options.list, options.now) });
  }

  /** Runs one create, so that look-ups for lost creates of equal content know of it. */
  async creating<T>(uid: string, content: string, create: () => Promise<T>): Promise<T> {
    this.#creating.set(uid, content);
    try {
      return await create();
    } finally {
      this.#creating.delete(uid);
    }
  }

  isCreating(content: string): boolean {
    return [...this.#creating.values()].includes(content);
  }

  claim(uid: string, id: string): void {
    this.#claims.set(uid, id);
  }

  unclaim(uid: string): void {
    this.#claims.delete(uid);
  }

  /** The object that a resource made or adopted and that may not be on record yet. */
  claimOf(uid: string): string | undefined {
    return this.#claims.get(uid);
  }

  claimedIDs(): ReadonlySet<string> {
    return new Set(this.#claims.values());
  }
}

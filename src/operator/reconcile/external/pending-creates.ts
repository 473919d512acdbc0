import { Backoff } from '../../../common/backoff.ts';
import { Breaker } from '../../../common/breaker.ts';
import { ApiError } from '../../../common/http/errors.ts';
import { ExternalCache, type ListExternal } from '../cache.ts';

export interface PendingCreatesOptions<Observed> {
  readonly list: ListExternal<Observed>;
  readonly idOf: (observed: Observed) => string;
  readonly now: () => number;
}

/**
 * What this process knows of one account's objects of one kind beyond what Kubernetes has on record: a cache of what is
 * out there, creates on their way, and whose an object is between its creation and the record of it.
 */
export class PendingCreates<Observed> {
  readonly cache: ExternalCache<Observed>;
  /** Pauses between creates of unknown fate, by uid of the resource. */
  readonly lost = new Backoff({ minMs: 1_000, maxMs: 300_000 }, () => 1);
  /** uid of a resource -> external id. */
  readonly #claims = new Map<string, string>();
  /** uid of a resource -> content of its create under way. */
  readonly #creating = new Map<string, string>();

  constructor(options: PendingCreatesOptions<Observed>) {
    this.cache = new ExternalCache({ ...options, list: guarded(options) });
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

  /** The resource is gone from Kubernetes. */
  forget(uid: string): void {
    this.unclaim(uid);
    this.lost.forget(uid);
  }
}

/**
 * A list that failed is not sent again for a while, later and later, but fails alike for whoever asks: hundreds of
 * resources must not each find out for themselves, at the expense of the account's budget, that the service is away.
 * The pause is not longer than whoever asks waits before it asks again.
 */
export function guarded<Observed>({
  list,
  now,
}: Pick<PendingCreatesOptions<Observed>, 'list' | 'now'>): ListExternal<Observed> {
  const breaker = new Breaker({ minMs: 500, maxMs: 10_000, now });
  return async function* (call, onOdd) {
    breaker.check();
    yield* await breaker.try(() => Array.fromAsync(list(call, onOdd)), failureOf);
  };
}

/** A key that was refused may be replaced at any moment, and is then to be tried at once. */
function failureOf(error: unknown): Error | undefined {
  const refused = error instanceof ApiError && error.reason === 'Unauthorized';
  return refused || !(error instanceof Error) ? undefined : error;
}

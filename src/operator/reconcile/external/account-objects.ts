import { Backoff } from '../../../common/backoff.ts';
import { Breaker } from '../../../common/breaker.ts';
import type { Call } from '../../../common/call.ts';
import { ApiError } from '../../../common/http/errors.ts';
import type { OddItem } from '../../../common/odd-item.ts';
import { DependencyError } from '../status/outcome.ts';
import { ExternalCache, type ExternalCacheOptions } from './cache.ts';
import type { Claims } from './claims.ts';
import type { Identity } from './contract.ts';
import { LastCount } from './count.ts';

export interface AccountObjectsOptions<Observed> extends Pick<ExternalCacheOptions<Observed>, 'identityOf' | 'now'> {
  readonly list: (call: Call, onOdd: (item: OddItem) => void) => AsyncIterable<Observed>;
  /** Of all accounts. */
  readonly claims: Claims;
}

/** A create that was taken for lost, or answered with what never was: what it asked for, and when that may have been made. */
export interface Suspect {
  readonly content: string;
  /** By the service's clock. */
  readonly backTo: number;
  /** As well; undefined: it may act late. */
  readonly upTo?: number;
  /** On the monotonic clock: for so long what it made is told of. */
  readonly until: number;
}

/** The creates of one resource that are suspect, and what was told of any. */
export interface Suspects {
  readonly creates: readonly Suspect[];
  readonly toldOf: Set<string>;
}

/**
 * What this process knows of one account's objects of one kind beyond what Kubernetes has on record: a cache of what is
 * out there, and what became of creates.
 */
export class AccountObjects<Observed> {
  readonly cache: ExternalCache<Observed>;
  /** Pauses between creates of unknown fate, by uid of the resource. */
  readonly lost = new Backoff({ minMs: 1_000, maxMs: 300_000 }, () => 1);
  /** By uid of the resource. */
  readonly suspects = new Map<string, Suspects>();
  readonly claims: Claims;
  readonly count = new LastCount<Observed>();

  constructor({ claims, ...options }: AccountObjectsOptions<Observed>) {
    this.claims = claims;
    this.cache = new ExternalCache({ ...options, list: guarded(options) });
  }

  /** As `Flow.forget`. */
  forget(uid: string): void {
    this.lost.forget(uid);
    this.suspects.delete(uid);
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
  identityOf,
}: Pick<AccountObjectsOptions<Observed>, 'list' | 'now' | 'identityOf'>): ExternalCacheOptions<Observed>['list'] {
  const breaker = new Breaker({ minMs: 500, maxMs: 10_000, now });
  return async (call, onOdd, isWanted = () => true) => {
    breaker.check();
    return breaker.try(() => Array.fromAsync(takeWhile(list(call, onOdd), isWanted, identityOf)), failureOf);
  };
}

/** So many in a row, none younger than the one before, show that what follows is older still; of one moment a page of them. */
const sureCounts = { older: 20, asOld: 100 };

/**
 * What is wanted; of a list that is newest first no page is read beyond it. That it is, as the service's lists are, is not documented:
 * one in another order is read to its end.
 */
async function* takeWhile<Item>(
  items: AsyncIterable<Item>,
  isWanted: (item: Item) => boolean,
  identityOf: (item: Item) => Identity,
): AsyncIterable<Item> {
  let [count, isFalling] = [0, false];
  let last: number | undefined;
  for await (const item of items) {
    const at = Date.parse(identityOf(item).createdAt);
    const isUnwanted = !isWanted(item);
    count = isUnwanted && !(at > (last ?? at)) ? count + 1 : 0;
    isFalling = count > 0 && (isFalling || at < (last ?? at));
    last = at;
    if (count >= (isFalling ? sureCounts.older : sureCounts.asOld)) return;
    if (!isUnwanted) yield item;
  }
}

/**
 * A key that was refused may be replaced at any moment, and is then to be tried at once; what a 429 asks for is kept by the
 * budget, and runs out. What an account that may not be used kept from being sent says nothing of the service.
 */
function failureOf(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  const { reason, cause } = error instanceof ApiError ? error : {};
  const isTold = reason === 'Unauthorized' || reason === 'RateLimited' || cause instanceof DependencyError;
  return isTold ? undefined : error;
}

import { isSameURL } from '../../common/http/url.ts';
import { keyOf } from '../kube/types.ts';
import type { Facts, Memory } from './memory.ts';
import { isObserver, isProof, recordedURLOf, type Standing, winnerOver } from './ownership.ts';
import type { ManagedObject } from './resource.ts';

/** The cached resources of one kind, by what they claim. */
export interface ClaimIndex {
  get(key: string): ManagedObject | undefined;
  list(): readonly ManagedObject[];
  /** Everything that claims the same external object, and who observes what is proven to be his; `claim` as made by the flow. */
  claimants(claim: string): readonly ManagedObject[];
}

export interface PeersOptions {
  readonly index: ClaimIndex;
  readonly memory: Memory;
  /** The account of a resource; absent where a claim says all. */
  readonly accountOf?: ((object: ManagedObject) => PeersAccount) | undefined;
}

export interface PeersAccount {
  /** The same for one key at one address, whatever its names. */
  readonly identity: string;
  /** When another key took the place of its key, on the monotonic clock: what it had before may be another account's. */
  readonly rekeyedAt?: number | undefined;
  /** The address of its API, where that is known. */
  readonly url?: string | undefined;
}

/**
 * In what a claim names one thing: a path in an account; an id at an address, whatever key opens it, so that what somebody is
 * proven to have there is not another thing because its account has another key.
 */
export type Reach = 'account' | 'address';

/** All resources of one kind, as far as they matter to each other. */
export class Peers implements ClaimIndex {
  readonly #options: PeersOptions;

  constructor(options: PeersOptions) {
    this.#options = options;
  }

  list(): readonly ManagedObject[] {
    return this.#options.index.list();
  }

  claimants(claim: string): readonly ManagedObject[] {
    return this.#options.index.claimants(claim);
  }

  get(key: string): ManagedObject | undefined {
    return this.#options.index.get(key);
  }

  /** It has not gone, nor left the selection, since it was read. */
  isThere(object: ManagedObject): boolean {
    return this.get(keyOf(object))?.metadata.uid === object.metadata.uid;
  }

  /** What this process remembers of one of them. */
  factsOf({ metadata: { uid = '' } }: ManagedObject): Readonly<Facts> {
    return this.#options.memory.of(uid);
  }

  /** Whether what both make is in one account, whatever its names. */
  isOneAccount(one: ManagedObject, other: ManagedObject): boolean {
    const { accountOf } = this.#options;
    return accountOf?.(one).identity === accountOf?.(other).identity;
  }

  /**
   * Who has a better claim on the same, by what their accounts really are. Who only observes it claims nothing; but what
   * is proven to be his is not for a resource of another namespace to have.
   */
  rivalOf(
    object: ManagedObject,
    claim: string,
    standing: Standing,
    reach: Reach = 'account',
  ): ManagedObject | undefined {
    const { namespace } = object.metadata;
    return this.#winnerOver(object, claim, standing, reach, ({ metadata }) => metadata.namespace !== namespace);
  }

  /** As `rivalOf`, of what is to be removed: what is proven to be an observer's is not, for what annotations say. */
  keeperOf(
    object: ManagedObject,
    claim: string,
    standing: Standing,
    reach: Reach = 'account',
  ): ManagedObject | undefined {
    return this.#winnerOver(object, claim, standing, reach, () => true);
  }

  /** @param mayKeep whether an observer is a rival to who is not proven to have it */
  #winnerOver(
    object: ManagedObject,
    claim: string,
    standing: Standing,
    reach: Reach,
    mayKeep: (observer: ManagedObject) => boolean,
  ): ManagedObject | undefined {
    const { accountOf } = this.#options;
    const url = reach === 'address' ? accountOf?.(object).url : undefined;
    const isThere = (other: ManagedObject) =>
      url !== undefined && isSameURL(recordedURLOf(other) ?? '', url) && isProof(standing(other));
    const isUnproven = !isProof(standing(object));
    const isRival = (other: ManagedObject) => !isObserver(other) || (isUnproven && mayKeep(other));
    const rivals = this.claimants(claim).filter(
      (other) => isRival(other) && (this.isOneAccount(other, object) || isThere(other)),
    );
    return winnerOver(object, rivals, standing, (each) => accountOf?.(each).rekeyedAt ?? Number.NEGATIVE_INFINITY);
  }
}

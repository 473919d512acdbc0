import { isSameURL } from '../../../common/http/url.ts';
import { keyOf } from '../../kube/types.ts';
import type { Facts, Memory } from '../resource/memory.ts';
import { isDeleting, type ManagedObject } from '../resource/resource.ts';
import { isObserver, isProof, recordedURLOf, type Standing, winnerOver, wish } from './ownership.ts';

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
  /** Those of every key that it had while this process ran; absent where there are no keys. */
  readonly identities?: () => readonly string[];
  /** It goes by its name while it, or its key, is being read: it may be any account. */
  readonly isUnread?: boolean;
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

  /** It has not gone since it was read. */
  isCached(object: ManagedObject): boolean {
    return this.get(keyOf(object))?.metadata.uid === object.metadata.uid;
  }

  /** What this process remembers of one of them. */
  factsOf({ metadata: { uid = '' } }: ManagedObject): Readonly<Facts> {
    return this.#options.memory.known(uid);
  }

  /** Whether what both make is in one account, whatever its names. */
  isOneAccount(one: ManagedObject, other: ManagedObject): boolean {
    const { accountOf } = this.#options;
    return accountOf?.(one).identity === accountOf?.(other).identity;
  }

  /** Its account, or the key of that, is being read. */
  isUnread(object: ManagedObject): boolean {
    return this.#options.accountOf?.(object).isUnread === true;
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
    const isElsewhere = ({ metadata }: ManagedObject) => metadata.namespace !== namespace;
    return this.#winnerOver(object, this.#rivalsOf(object, claim, standing, reach, isElsewhere), standing);
  }

  /**
   * As `rivalOf`, of what is to be removed: what is proven to be an observer's is not, for what annotations say; nor what is
   * proven to be another's who stays. That both are makes one account of two, as a key that is wrong for a minute does.
   */
  keeperOf(
    object: ManagedObject,
    claim: string,
    standing: Standing,
    reach: Reach = 'account',
  ): ManagedObject | undefined {
    const hasLeft = (other: ManagedObject) => this.factsOf(other).left?.has(claim) === true;
    const rivals = this.#rivalsOf(object, claim, standing, reach, () => true).filter((other) => !hasLeft(other));
    const isAnother = ({ metadata }: ManagedObject) => metadata.uid !== object.metadata.uid;
    const winner = this.#winnerOver(object, rivals, standing);
    return winner ?? rivals.find((other) => isAnother(other) && isKeeper(other, standing));
  }

  /** Somebody is proven to have it, and stays, whose account may turn out to be the same one. */
  mayBeKept(claim: string, standing: Standing): boolean {
    return this.claimants(claim).some((other) => isKeeper(other, standing) && this.isUnread(other));
  }

  #winnerOver(object: ManagedObject, rivals: readonly ManagedObject[], standing: Standing): ManagedObject | undefined {
    const { accountOf } = this.#options;
    const rekeyedAt = (each: ManagedObject) => accountOf?.(each).rekeyedAt ?? Number.NEGATIVE_INFINITY;
    return winnerOver(object, rivals, this.#standingHere(standing), rekeyedAt);
  }

  /**
   * What annotations say was made at another address is not here. Whoever writes them can keep his resource from ever being
   * looked at by that, and so keeps nothing from others but what he could ask for. Proof stays: an API may have moved.
   */
  #standingHere(standing: Standing): Standing {
    return (object) => {
      const known = standing(object);
      return isProof(known) || !this.#isAtAnotherAddress(object) ? known : Math.max(known, wish);
    };
  }

  #isAtAnotherAddress(object: ManagedObject): boolean {
    const [recorded, url] = [recordedURLOf(object), this.#options.accountOf?.(object).url];
    return recorded !== undefined && url !== undefined && !isSameURL(recorded, url);
  }

  /** @param mayKeep whether an observer is a rival to who is not proven to have it */
  #rivalsOf(
    object: ManagedObject,
    claim: string,
    standing: Standing,
    reach: Reach,
    mayKeep: (observer: ManagedObject) => boolean,
  ): readonly ManagedObject[] {
    const { accountOf } = this.#options;
    const url = reach === 'address' ? accountOf?.(object).url : undefined;
    const isProvenThere = (other: ManagedObject) =>
      url !== undefined && isSameURL(recordedURLOf(other) ?? '', url) && isProof(standing(other));
    const isUnproven = !isProof(standing(object));
    const wasHere = (other: ManagedObject) => {
      if (!isProof(standing(other))) return false;
      if (isUnproven) return this.#mayBeOneAccount(other, object);
      return standing(other) < standing(object) && this.#hadKeyOf(other, object);
    };
    const isRival = (other: ManagedObject) => !isObserver(other) || (isUnproven && mayKeep(other));
    return this.claimants(claim).filter(
      (other) => isRival(other) && (this.isOneAccount(other, object) || isProvenThere(other) || wasHere(other)),
    );
  }

  /** The other's account had the key that the object's has now. */
  #hadKeyOf(other: ManagedObject, object: ManagedObject): boolean {
    const { accountOf } = this.#options;
    const mine = accountOf?.(object).identity;
    return mine !== undefined && accountOf?.(other).identities?.().includes(mine) === true;
  }

  /**
   * They had one key once; or what the other is proven to have is at the same address, where his account has shown no key, or is
   * no more. One of two keys may be a wrong one now, as an address may, or of the same account and rotated first: what is provenly
   * somebody's is not for others to take meanwhile.
   */
  #mayBeOneAccount(other: ManagedObject, object: ManagedObject): boolean {
    const { accountOf } = this.#options;
    const [his, mine] = [accountOf?.(other), accountOf?.(object)];
    const had = his?.identities?.();
    if (had === undefined || his?.isUnread === true) return false;
    if (had.length > 0 && !this.#isAtAnotherAddress(other)) {
      return mine?.identities?.().some((identity) => had.includes(identity)) === true;
    }
    return isSameURL(recordedURLOf(other) ?? '', mine?.url ?? '');
  }
}

/** It is proven to have it, and stays. */
function isKeeper(other: ManagedObject, standing: Standing): boolean {
  return isProof(standing(other)) && !isDeleting(other);
}

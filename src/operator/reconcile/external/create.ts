import type { Call, Reserved } from '../../../common/call.ts';
import { ApiError } from '../../../common/http/errors.ts';
import { knownAt } from '../connections/connection.ts';
import type { ReconcileContext } from '../context.ts';
import { externalIDOf, nowhere, ownedIDOf, placeRecord } from '../ownership/ownership.ts';
import { unless } from '../permits.ts';
import {
  annotation,
  annotationOf,
  type CreateIntent,
  formatIntent,
  hasIntent,
  intentOf,
} from '../resource/annotations.ts';
import type { CurrentResource } from '../resource/current-resource.ts';
import { fingerprint } from '../resource/json.ts';
import type { Facts } from '../resource/memory.ts';
import type { ManagedObject, ManagedSpec } from '../resource/resource.ts';
import { type Report, report, reportFailure } from '../status/outcome.ts';
import type { AccountObjects } from './account-objects.ts';
import type { ExternalContract } from './contract.ts';
import { ofUnknownFate } from './refused-create.ts';
import { clockSkewMs, isOlderThanMark } from './resolution.ts';

type Context<Client> = Omit<ReconcileContext<Client>, 'occasion'>;

/**
 * The create of one resource's external object, so that a crash at any point leaves either nothing, or an intent by which
 * the next reconcile finds what was made (lost-create.ts): mark, call, record.
 */
export class SafeCreate<Spec extends ManagedSpec, Observed, Client> {
  readonly #context: Context<Client>;
  readonly #contract: ExternalContract<Spec, Observed, Client>;
  readonly #objects: AccountObjects<Observed>;
  /** What is known so far was learned with the key of that time. */
  readonly #keySince: number | undefined;

  constructor(
    context: Context<Client>,
    contract: ExternalContract<Spec, Observed, Client>,
    objects: AccountObjects<Observed>,
  ) {
    this.#context = context;
    this.#contract = contract;
    this.#objects = objects;
    this.#keySince = context.connection.since;
  }

  /**
   * Creates the object and records its id; reports when that did not succeed. What waits for the account's budget leaves
   * no intent meanwhile. That there is nothing yet is known of the key that was in force when this was made: nothing is created
   * with another.
   *
   * @param isLate asked when its turn has come, which may take an hour: true gives that back, to look once more before. Looking
   *   needs a turn of its own, and after a pause there is one at a time
   */
  async perform(spec: Spec, isLate = () => false): Promise<Report | undefined> {
    const { connection, call, time } = this.#context;
    const content = fingerprint(this.#contract.content(spec));
    let reserved: Reserved | undefined;
    try {
      reserved = await connection.reserve?.(call);
    } catch (error) {
      return this.#failed(error, time.now(), content);
    }
    using _ = reserved;
    if (isLate()) return undefined;
    if (this.#isRekeyed()) return this.#rekeyed();
    // Awaited here: what is reserved is given back as soon as this returns.
    return await this.#perform(spec, content, reserved?.call ?? call);
  }

  async #perform(spec: Spec, content: string, call: Call): Promise<Report | undefined> {
    const { resource, facts, time, journal } = this.#context;
    const vanished = externalIDOf(resource.object) ?? facts.former?.[0];
    this.#objects.claims.unclaim(resource.uid);
    delete facts.unresolved;
    await this.#mark(content);
    if (this.#isRekeyed()) {
      await withdraw(this.#context.resource);
      return this.#rekeyed();
    }
    const sentAt = time.now();
    let id: string;
    try {
      id = await this.#objects.claims.creating(resource.uid, content, () => this.#post(spec, content, call));
    } catch (error) {
      return this.#isRekeyed() && isDefinite(error) ? this.#rekeyed() : this.#failed(error, sentAt, content);
    }
    await recordCreated(resource, id);
    const what = `${this.#contract.displayName} ${id}`;
    if (vanished === undefined) journal.event('Created', `created ${what}`);
    else journal.event('DriftCorrected', `made ${what} in place of ${vanished}, which was gone`);
    return undefined;
  }

  #isRekeyed(): boolean {
    return this.#context.connection.since !== this.#keySince;
  }

  #rekeyed(): Report {
    const message = `another API key is in force: looking with that for the ${this.#contract.displayName} first`;
    return report('Creating', message, { retry: { kind: 'after', ms: 0 } });
  }

  /** Says that a create of this content is about to be sent. */
  #mark(content: string): Promise<void> {
    const { resource, connection } = this.#context;
    return resource.record({
      [annotation.createIntent]: formatIntent({ ...this.#now(), content }),
      ...placeRecord(connection),
      [annotation.keyMark]: connection.keyMark ?? null,
      [annotation.externalID]: null,
      [annotation.createdID]: null,
    });
  }

  /**
   * Claimed, or withdrawn, before the create counts as over: a look-up for a twin must see either the one or the other. It may wait
   * once more, where the service asks for a pause, and another key be in force at the end.
   */
  async #post(spec: Spec, content: string, reserved: Call): Promise<string> {
    const { resource, connection, facts, time } = this.#context;
    const sentAt = time.now();
    const call = unless(reserved, () => this.#isRekeyed(), 'another API key is in force');
    const observed = await this.#contract.create(connection.client, spec, call).catch(async (error: unknown) => {
      if (isDefinite(error)) await withdraw(resource);
      throw error;
    });
    const { id } = this.#contract.identity(observed);
    if (this.#isAnothers(id) || (await this.#mayBeAnothers(observed, content))) {
      // Whose it is may be another tenant.
      const message = `the answer shows another ${this.#contract.displayName} than was asked for`;
      throw new ApiError(message, { reason: 'Unreachable', definite: false });
    }
    this.#objects.claims.claim(resource.uid, id);
    this.#objects.cache.record(observed, knownAt(connection, sentAt, time.now()));
    // With the key that was in force when it was sent.
    facts.seen = { id, at: sentAt, firstAt: time.now() };
    facts.made = { id, at: sentAt, unshown: this.#madeSince(sentAt, content) };
    delete facts.refusedCreate;
    this.#objects.lost.forget(resource.uid);
    return id;
  }

  /** By any clock that there is. */
  #madeSince(sentAt: number, content: string): NonNullable<NonNullable<Facts['made']>['unshown']> {
    const { connection, time } = this.#context;
    const now = connection.serviceTime?.() ?? time.wall();
    return { content, backTo: now - (time.now() - sentAt) - clockSkewMs, upTo: now + clockSkewMs };
  }

  /** What stands in between may mix answers up: what is another resource's, or was this one's, was not made just now. */
  #isAnothers(id: string): boolean {
    const { resource, peers, facts } = this.#context;
    if (this.#objects.claims.isTaken(id) || facts.former?.includes(id) === true) return true;
    return peers.claimants(id).some(({ metadata: { uid } }) => uid !== resource.uid);
  }

  /**
   * It is otherwise than asked, or older than the mark, and more than that speaks against it: services have forms of their own, and
   * clocks. Asking for it may wait for its turn: until then it is this resource's to whoever looks for one, and on record.
   */
  async #mayBeAnothers(observed: Observed, asked: string): Promise<boolean> {
    const { uid, object } = this.#context.resource;
    const identity = this.#contract.identity(observed);
    const { id } = identity;
    const content = fingerprint(this.#contract.contentOf(observed));
    const isOtherwise = content !== asked;
    const isOlder = isOlderThanMark(identity, intentOf(object) ?? {});
    if (!isOtherwise && !isOlder) return false;
    const isLikely = isOtherwise && (isOlder || this.#isAwaited(content));
    if (!isLikely) this.#objects.claims.claim(uid, id);
    await this.#keepAnswer(id);
    if (!isLikely && !(await this.#isGone(id))) return false;
    this.#objects.claims.unclaim(uid);
    return true;
  }

  /** As far as the service can be asked. */
  async #isGone(id: string): Promise<boolean> {
    const { connection, call } = this.#context;
    return (await this.#contract.get(connection.client, id, call).catch(() => id)) === undefined;
  }

  /** If nobody turns out to have it, nothing is made besides it. */
  #keepAnswer(answered: string): Promise<void> {
    return this.#context.resource.insist((latest) => ({
      [annotation.createIntent]: formatIntent({ ...intentOf(latest), answered }),
    }));
  }

  /** Another resource's create of just that is under way, or of unknown fate, in whatever account. */
  #isAwaited(content: string): boolean {
    const { resource, peers } = this.#context;
    return peers.list().some((each) => each.metadata.uid !== resource.uid && intentOf(each)?.content === content);
  }

  /** Whatever the status showed is gone: this very create was to replace it. */
  #failed(error: unknown, sentAt: number, content: string): Report {
    const { facts, resource, time } = this.#context;
    const { lost } = this.#objects;
    const isLost = !isDefinite(error);
    if (isLost) {
      facts.unresolved = { sentAt, since: time.now() };
      lost.next(resource.uid);
    }
    const failure = isLost ? ofUnknownFate(facts, reportFailure(error), content) : reportFailure(error);
    if (failure.retry.kind !== 'backoff') return { ...failure, fields: {} };
    // Each create of unknown fate is looked up in short steps, which must not make the next one come as soon as the first.
    const atLeastMs = Math.max(lost.last(resource.uid), failure.retry.atLeastMs ?? 0);
    return { ...failure, fields: {}, retry: { kind: 'backoff', atLeastMs } };
  }

  /** By the service's clock where its answers have told it, so that a wrong clock here does not matter. */
  #now(): Pick<CreateIntent, 'at' | 'clock'> {
    const { connection, time } = this.#context;
    const service = connection.serviceTime?.();
    return { at: new Date(service ?? time.wall()).toISOString(), clock: service === undefined ? 'own' : 'service' };
  }
}

function isDefinite(error: unknown): boolean {
  return error instanceof ApiError && error.definite;
}

/**
 * The id, durably. What a person named meanwhile stays to be seen: it is not what this resource made. What it made before, as a
 * restored backup has it, is no wish of anybody's.
 */
export function recordCreated(resource: CurrentResource, id: string): Promise<void> {
  return resource.insist((latest) => {
    const isWish =
      isNamed(latest) && annotationOf(latest, annotation.externalID) !== annotationOf(latest, annotation.createdID);
    return {
      [annotation.createIntent]: null,
      [annotation.createdID]: id,
      ...(isWish ? {} : { [annotation.externalID]: id }),
    };
  });
}

/** The create certainly did not happen. */
export function withdraw(resource: CurrentResource): Promise<void> {
  return resource.insist(() => ({ [annotation.createIntent]: null, ...nowhere }));
}

/** A create of unknown fate is on record, and nothing that the resource owns. */
export function isBegun(object: ManagedObject): boolean {
  return hasIntent(object) && ownedIDOf(object) === undefined;
}

/** A person named an external object. */
export function isNamed(object: ManagedObject): boolean {
  return annotationOf(object, annotation.externalID) !== undefined;
}

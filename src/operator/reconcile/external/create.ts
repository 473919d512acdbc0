import { ApiError } from '../../../common/http/errors.ts';
import type { Call, Reserved } from '../../../common/priority.ts';
import { annotation, annotationOf, type CreateIntent, formatIntent, intentOf } from '../annotations.ts';
import { isDeleting, type ReconcileContext } from '../context.ts';
import { emit } from '../events.ts';
import { fingerprint } from '../json.ts';
import { type Report, report, reportFailure } from '../outcome.ts';
import { accountKeyOf, externalIDOf, ownershipOf, placeRecord, recordedURLOf } from '../ownership.ts';
import { conditionOf, type ManagedObject, type ManagedSpec } from '../resource.ts';
import type { ExternalContract, Identity } from './contract.ts';
import { notBefore, resolveLostCreate, type UnresolvedCreate } from './lost-create.ts';
import { unreadable } from './odd-items.ts';
import type { PendingCreates } from './pending-creates.ts';

/** The resource as last written, or what there is to report instead of going on. */
export type Step = { readonly object: ManagedObject } | { readonly report: Report };

export interface CreateOptions {
  /** Every resource of the kind in the cluster, read afresh and whatever shard it belongs to. */
  readonly listResources: () => Promise<readonly ManagedObject[]>;
  /** How long after a create of unknown fate the service may still be carrying it out, in milliseconds. */
  readonly createSettleMs: number;
}

/** When what an unanswered create may have made is looked for, after it was lost from sight; for the last time when it must have settled. */
const looksAfterMs = [0, 2_000, 10_000, 30_000];
/** Two lists that are to say the same of something are this far apart. */
const apartMs = 2_000;
/** An unclaimed match that shows up so long after a create was taken for lost is told of. */
const suspectMs = 3_600_000;

/**
 * The create of one resource's external object, so that a crash at any point leaves either nothing, or an intent by which
 * the next reconcile finds what was made: mark, call, record.
 */
export class SafeCreate<Spec extends ManagedSpec, Observed, Client> {
  readonly #context: ReconcileContext<Client>;
  readonly #contract: ExternalContract<Spec, Observed, Client>;
  readonly #pending: PendingCreates<Observed>;
  readonly #options: CreateOptions;

  constructor(
    context: ReconcileContext<Client>,
    contract: ExternalContract<Spec, Observed, Client>,
    pending: PendingCreates<Observed>,
    options: CreateOptions,
  ) {
    this.#context = context;
    this.#contract = contract;
    this.#pending = pending;
    this.#options = options;
  }

  /** Creates the object and records its id. What waits for the account's budget leaves no intent meanwhile. */
  async perform(object: ManagedObject, spec: Spec): Promise<Step> {
    const { connection, call, monotonic } = this.#context;
    let reserved: Reserved | undefined;
    try {
      reserved = await connection.reserve?.(call);
    } catch (error) {
      return { report: this.#failed(error, monotonic.now()) };
    }
    using _ = reserved;
    // Awaited here: what is reserved is given back as soon as this returns.
    return await this.#perform(object, spec, reserved?.call ?? call);
  }

  async #perform(object: ManagedObject, spec: Spec, call: Call): Promise<Step> {
    const { writer, uid, connection, memory, monotonic } = this.#context;
    this.#pending.unclaim(uid);
    delete memory.of(uid).unresolved;
    const content = fingerprint(this.#contract.content(spec));
    const marked = await writer.record(object, {
      [annotation.createIntent]: formatIntent({ ...this.#now(), content }),
      ...placeRecord({ object, connection }),
      [annotation.externalID]: null,
      [annotation.createdID]: null,
    });
    const sentAt = monotonic.now();
    let id: string;
    try {
      id = await this.#pending.creating(uid, content, () => this.#post(marked, spec, call));
    } catch (error) {
      return { report: this.#failed(error, sentAt) };
    }
    const recorded = await this.#record(marked, id);
    emit(this.#context, 'Created', `created ${this.#contract.displayName} ${id}`);
    return { object: recorded };
  }

  /**
   * Learns the fate of a create that was begun and never recorded, before anything else is done for the resource: adopts
   * what it made, or makes sure that it made nothing. A resource without such a create comes back as it is.
   */
  async resolve(): Promise<Step> {
    const { object, uid } = this.#context;
    const intent = intentOf(object);
    if (intent === undefined) return { object };
    // What the status knows is newer than any mark of a create: that one came back with an old manifest.
    if (ownershipOf(object).id !== undefined || isChosen(object)) return { object: await this.#withdraw(object) };
    const made = this.#pending.claimOf(uid);
    if (made !== undefined) return { object: await this.#record(object, made) };
    return this.#lookUp(intent);
  }

  /** Claimed, or withdrawn, before the create counts as over: a look-up for a twin must see either the one or the other. */
  async #post(marked: ManagedObject, spec: Spec, call: Call): Promise<string> {
    const { connection, uid, memory, monotonic } = this.#context;
    const observed = await this.#contract.create(connection.client, spec, call).catch(async (error: unknown) => {
      if (error instanceof ApiError && error.definite) await this.#withdraw(marked);
      throw error;
    });
    const { id } = this.#contract.identity(observed);
    this.#pending.claim(uid, id);
    this.#pending.cache.record(observed, monotonic.now());
    const facts = memory.of(uid);
    facts.made = { id, at: monotonic.now() };
    facts.seen = facts.made;
    this.#pending.lost.forget(uid);
    return id;
  }

  /** Whatever the status showed is gone: this very create was to replace it. */
  #failed(error: unknown, sentAt: number): Report {
    const { memory, uid, monotonic } = this.#context;
    const isLost = !(error instanceof ApiError && error.definite);
    if (isLost) {
      memory.of(uid).unresolved = { sentAt, since: monotonic.now() };
      this.#pending.lost.next(uid);
    }
    const failure = reportFailure(error);
    if (failure.retry.kind !== 'backoff') return { ...failure, fields: {} };
    // Each create of unknown fate is looked up in short steps, which must not make the next one come as soon as the first.
    const atLeastMs = Math.max(this.#pending.lost.last(uid), failure.retry.atLeastMs ?? 0);
    return { ...failure, fields: {}, retry: { kind: 'backoff', atLeastMs } };
  }

  async #lookUp(intent: Partial<CreateIntent>): Promise<Step> {
    const { object, uid, memory, startedAt, call } = this.#context;
    const { displayName, content: contentOf, spec } = this.#contract;
    const content = intent.content ?? fingerprint(contentOf(spec.parse(object.spec)));
    const facts = memory.of(uid);
    facts.unresolved ??= { since: startedAt };
    const { unresolved } = facts;
    const { createSettleMs } = this.#options;
    const looks = [...looksAfterMs.filter((ms) => ms < createSettleMs), createSettleMs];
    const passedMs = startedAt - unresolved.since;
    const last = looks.findLast((ms) => ms <= passedMs) ?? 0;
    const next = looks.find((ms) => ms > passedMs);

    const known = this.#unresolved(this.#context.cache.list(), content);
    const backTo = Math.min(...known.map((each) => each.notBefore));
    // What a list could not tell is not asked of the same one again.
    const since = Math.max(unresolved.since + last, facts.failedAt ?? Number.NEGATIVE_INFINITY);
    const found = await this.#pending.cache.recent(since, backTo, call);
    // Read after the list: whoever made what is in it has it on record by now, or its create is unresolved.
    const resources = await this.#options.listResources();
    const latest = resources.find((resource) => resource.metadata.uid === uid) ?? object;
    if (isChosen(latest)) return { object: await this.#withdraw(latest) };
    if (this.#pending.isCreating(content)) return { report: this.#wait(apartMs) };
    const resolution = resolveLostCreate(
      this.#asUnresolved(object),
      this.#unresolved(resources, content),
      this.#unclaimed(resources, found.items, content),
    );

    if (resolution.kind === 'ambiguous') return { report: ambiguous(resolution.ids) };
    if (resolution.kind === 'adopt') {
      this.#pending.claim(uid, resolution.id);
      const recorded = await this.#record(object, resolution.id);
      emit(this.#context, 'Adopted', `adopted ${displayName} ${resolution.id}, made by a create whose answer was lost`);
      return { object: recorded };
    }
    const claimed = this.#claimed(resources);
    const odd = found.odd.filter(({ id }) => id === undefined || !claimed.has(id));
    const doubt = unreadable(displayName, this.#asUnresolved(object), odd);
    if (doubt !== undefined) throw doubt;
    const firstLook = unresolved.lookedAt;
    unresolved.lookedAt ??= startedAt;
    if (next !== undefined) return { report: this.#wait(next - passedMs) };
    if (firstLook === undefined || startedAt - firstLook < apartMs) return { report: this.#wait(apartMs) };
    delete facts.unresolved;
    this.#pending.suspects.set(uid, { content, backTo, until: startedAt + suspectMs, toldOf: new Set() });
    return { object: await this.#withdraw(object) };
  }

  #unclaimed(resources: readonly ManagedObject[], found: readonly Observed[], content: string): readonly Identity[] {
    const claimed = this.#claimed(resources);
    return found
      .filter((observed) => fingerprint(this.#contract.contentOf(observed)) === content)
      .map((observed) => this.#contract.identity(observed))
      .filter((identity) => !claimed.has(identity.id));
  }

  #claimed(resources: readonly ManagedObject[]): ReadonlySet<string | undefined> {
    const others = resources.filter((resource) => resource.metadata.uid !== this.#context.uid);
    return new Set([...this.#pending.claimedIDs(), ...others.map(externalIDOf)]);
  }

  /** Every create of this content in this account that nobody knows the fate of, this one included. */
  #unresolved(resources: readonly ManagedObject[], content: string): readonly UnresolvedCreate[] {
    const { object, uid } = this.#context;
    const [account, url] = [accountKeyOf(object), recordedURLOf(object)];
    const others = resources.filter(
      (resource) =>
        resource.metadata.uid !== uid &&
        intentOf(resource)?.content === content &&
        // Of another installation the default account may be another one.
        accountKeyOf(resource) === account &&
        recordedURLOf(resource) === url &&
        externalIDOf(resource) === undefined &&
        this.#pending.claimOf(resource.metadata.uid ?? '') === undefined,
    );
    return [object, ...others].map((each) => this.#asUnresolved(each));
  }

  #asUnresolved(resource: ManagedObject): UnresolvedCreate {
    const { memory, clock, monotonic, connection } = this.#context;
    const { uid = '' } = resource.metadata;
    const { sentAt } = memory.of(uid).unresolved ?? {};
    const sentMsAgo = sentAt === undefined ? undefined : monotonic.now() - sentAt;
    const now = { own: clock.now(), service: connection.serviceTime?.(), sentMsAgo };
    return { uid, notBefore: notBefore(intentOf(resource) ?? {}, now) };
  }

  #wait(ms: number): Report {
    const reason = isDeleting(this.#context.object) ? 'Deleting' : 'Creating';
    const message = `looking for what an unanswered create of the ${this.#contract.displayName} may have made`;
    return report(reason, message, { retry: { kind: 'after', ms } });
  }

  /** By the service's clock where its answers have told it, so that a wrong clock here does not matter. */
  #now(): Pick<CreateIntent, 'at' | 'clock'> {
    const { connection, clock } = this.#context;
    const time = connection.serviceTime?.();
    return { at: new Date(time ?? clock.now()).toISOString(), clock: time === undefined ? 'own' : 'service' };
  }

  /** The id, durably. What a person named meanwhile stays to be seen: it is not what this resource made. */
  #record(object: ManagedObject, id: string): Promise<ManagedObject> {
    return this.#context.writer.insist(object, (latest) => ({
      [annotation.createIntent]: null,
      [annotation.createdID]: id,
      ...(isNamed(latest) ? {} : { [annotation.externalID]: id }),
    }));
  }

  /** The create certainly did not happen. */
  #withdraw(object: ManagedObject): Promise<ManagedObject> {
    return this.#context.writer.insist(object, () => ({
      [annotation.createIntent]: null,
      [annotation.account]: null,
      [annotation.apiURL]: null,
    }));
  }
}

function isNamed(object: ManagedObject): boolean {
  return annotationOf(object, annotation.externalID) !== undefined;
}

/** A person who was asked which object to keep named it: that settles what an unrecorded create made. */
function isChosen(object: ManagedObject): boolean {
  return isNamed(object) && conditionOf(object, 'Ready')?.reason === 'AmbiguousCreate';
}

function ambiguous(ids: readonly string[]): Report {
  const message =
    `an unanswered create may have made any of ${ids.join(', ')}: set the annotation ${annotation.externalID} to the ` +
    `one to keep, or remove the annotation ${annotation.createIntent} to create another`;
  return report('AmbiguousCreate', message);
}

import { ApiError } from '../../../common/http/errors.ts';
import type { Call, Reserved } from '../../../common/priority.ts';
import { annotation, annotationOf, formatIntent, intentOf } from '../annotations.ts';
import { accountKeyOf, externalIDOf, requestedAccountOf } from '../claims.ts';
import { isDeleting, type ReconcileContext } from '../context.ts';
import { emit } from '../events.ts';
import { fingerprint } from '../json.ts';
import { type Report, report, reportFailure } from '../outcome.ts';
import type { ManagedObject, ManagedSpec } from '../resource.ts';
import type { ExternalContract, Identity } from './contract.ts';
import { resolveLostCreate, type UnresolvedCreate } from './lost-create.ts';
import type { PendingCreates } from './pending-creates.ts';

/** The resource as last written, or what there is to report instead of going on. */
export type Step = { readonly object: ManagedObject } | { readonly report: Report };

export interface CreateOptions {
  /** Every resource of the kind in the cluster, read afresh and whatever shard it belongs to. */
  readonly listResources: () => Promise<readonly ManagedObject[]>;
  /** How long after a create of unknown fate the service may still be carrying it out, in milliseconds. */
  readonly createSettleMs: number;
}

/** Wait between two look-ups while a create of unknown fate may still be carried out. */
const lookAgainMs = 2_000;

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
    const { connection, call } = this.#context;
    let reserved: Reserved | undefined;
    try {
      reserved = await connection.reserve?.(call);
    } catch (error) {
      return { report: this.#failed(error) };
    }
    using _ = reserved;
    // Awaited here: what is reserved is given back as soon as this returns.
    return await this.#perform(object, spec, reserved?.call ?? call);
  }

  async #perform(object: ManagedObject, spec: Spec, call: Call): Promise<Step> {
    const { writer, uid, clock } = this.#context;
    this.#pending.unclaim(uid);
    const content = fingerprint(this.#contract.content(spec));
    const marked = await writer.record(object, {
      [annotation.createIntent]: formatIntent({ at: new Date(clock.now()).toISOString(), content }),
      [annotation.account]: requestedAccountOf(object),
      [annotation.externalID]: null,
      [annotation.createdID]: null,
    });
    let id: string;
    try {
      id = await this.#pending.creating(uid, content, () => this.#post(marked, spec, call));
    } catch (error) {
      return { report: this.#failed(error) };
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
    if (isNamed(object)) return { object: await this.#withdraw(object) };
    const made = this.#pending.claimOf(uid);
    if (made !== undefined) return { object: await this.#record(object, made) };
    return this.#lookUp(intent.content);
  }

  /** Claimed, or withdrawn, before the create counts as over: a look-up for a twin must see either the one or the other. */
  async #post(marked: ManagedObject, spec: Spec, call: Call): Promise<string> {
    const { connection, uid, clock } = this.#context;
    const observed = await this.#contract.create(connection.client, spec, call).catch(async (error: unknown) => {
      if (error instanceof ApiError && error.definite) await this.#withdraw(marked);
      throw error;
    });
    const { id } = this.#contract.identity(observed);
    this.#pending.claim(uid, id);
    this.#pending.cache.record(observed, clock.now());
    this.#pending.lost.forget(uid);
    return id;
  }

  /** Whatever the status showed is gone: this very create was to replace it. */
  #failed(error: unknown): Report {
    const { memory, uid, clock } = this.#context;
    const isLost = !(error instanceof ApiError && error.definite);
    if (isLost) {
      memory.of(uid).unresolvedSince = clock.now();
      this.#pending.lost.next(uid);
    }
    const failure = reportFailure(error);
    if (failure.retry.kind !== 'backoff') return { ...failure, fields: {} };
    // Each create of unknown fate is looked up in short steps, which must not make the next one come as soon as the first.
    const atLeastMs = Math.max(this.#pending.lost.last(uid), failure.retry.atLeastMs ?? 0);
    return { ...failure, fields: {}, retry: { kind: 'backoff', atLeastMs } };
  }

  async #lookUp(recordedContent: string | undefined): Promise<Step> {
    const { object, uid, memory, startedAt, call } = this.#context;
    const { displayName, content: contentOf, spec } = this.#contract;
    const content = recordedContent ?? fingerprint(contentOf(spec.parse(object.spec)));
    const facts = memory.of(uid);
    facts.unresolvedSince ??= startedAt;
    const settledAt = facts.unresolvedSince + this.#options.createSettleMs;

    const found = await this.#pending.cache.sweep(Math.min(startedAt, settledAt), call);
    const resources = await this.#options.listResources();
    const latest = resources.find((resource) => resource.metadata.uid === uid) ?? object;
    if (isNamed(latest)) return { object: await this.#withdraw(latest) };
    if (this.#pending.isCreating(content)) return { report: this.#wait() };
    const resolution = resolveLostCreate(
      unresolved(object),
      this.#unresolved(resources, content),
      this.#unclaimed(resources, found, content),
    );

    if (resolution.kind === 'ambiguous') return { report: ambiguous(resolution.ids) };
    if (resolution.kind === 'adopt') {
      this.#pending.claim(uid, resolution.id);
      const recorded = await this.#record(object, resolution.id);
      emit(this.#context, 'Adopted', `adopted ${displayName} ${resolution.id}, made by a create whose answer was lost`);
      return { object: recorded };
    }
    if (startedAt < settledAt) return { report: this.#wait() };
    delete facts.unresolvedSince;
    return { object: await this.#withdraw(object) };
  }

  #unclaimed(resources: readonly ManagedObject[], found: readonly Observed[], content: string): readonly Identity[] {
    const claimed = new Set<string | undefined>([...this.#pending.claimedIDs(), ...resources.map(externalIDOf)]);
    return found
      .filter((observed) => fingerprint(this.#contract.contentOf(observed)) === content)
      .map((observed) => this.#contract.identity(observed))
      .filter((identity) => !claimed.has(identity.id));
  }

  /** Every create of this content in this account that nobody knows the fate of, this one included. */
  #unresolved(resources: readonly ManagedObject[], content: string): readonly UnresolvedCreate[] {
    const { object, uid } = this.#context;
    const account = accountKeyOf(object);
    const others = resources.filter(
      (resource) =>
        resource.metadata.uid !== uid &&
        intentOf(resource)?.content === content &&
        accountKeyOf(resource) === account &&
        externalIDOf(resource) === undefined &&
        this.#pending.claimOf(resource.metadata.uid ?? '') === undefined,
    );
    return [object, ...others].map(unresolved);
  }

  #wait(): Report {
    const reason = isDeleting(this.#context.object) ? 'Deleting' : 'Creating';
    const message = `looking for what an unanswered create of the ${this.#contract.displayName} may have made`;
    return report(reason, message, { retry: { kind: 'after', ms: lookAgainMs } });
  }

  /** The id, durably. */
  #record(object: ManagedObject, id: string): Promise<ManagedObject> {
    return this.#context.writer.insist(object, () => ({
      [annotation.createIntent]: null,
      [annotation.externalID]: id,
      [annotation.createdID]: id,
    }));
  }

  /** The create certainly did not happen. */
  #withdraw(object: ManagedObject): Promise<ManagedObject> {
    return this.#context.writer.insist(object, () => ({ [annotation.createIntent]: null, [annotation.account]: null }));
  }
}

/** A person named the object: that settles what an unrecorded create made. */
function isNamed(object: ManagedObject): boolean {
  return annotationOf(object, annotation.externalID) !== undefined;
}

function unresolved(object: ManagedObject): UnresolvedCreate {
  return { uid: object.metadata.uid ?? '', begunAt: Date.parse(intentOf(object)?.at ?? '') || 0 };
}

function ambiguous(ids: readonly string[]): Report {
  const message =
    `an unanswered create may have made any of ${ids.join(', ')}: set the annotation ${annotation.externalID} to the ` +
    `one to keep, or remove the annotation ${annotation.createIntent} to create another`;
  return report('AmbiguousCreate', message);
}

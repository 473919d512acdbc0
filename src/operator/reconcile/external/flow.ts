import { ApiError } from '../../../common/http/errors.ts';
import { annotation, annotationOf, intentOf } from '../annotations.ts';
import { type Connection, freshSince, isDeleting, type ReconcileContext, unhandledReconcileAt } from '../context.ts';
import { emit } from '../events.ts';
import { type Flow, isKept } from '../flow.ts';
import { fingerprint } from '../json.ts';
import type { Kind, KindDefinition } from '../kind.ts';
import { type KindOptions, kindController, listEverywhere } from '../kind-controller.ts';
import type { Facts } from '../memory.ts';
import { type Outcome, type Report, report } from '../outcome.ts';
import {
  accountKeyOf,
  claimOf,
  externalIDOf,
  misnamedIDOf,
  originOf,
  ownedIDOf,
  ownershipOf,
  requestedAccountOf,
  rivalName,
  standingOn,
  winnerOver,
} from '../ownership.ts';
import { PerConnection } from '../per-connection.ts';
import { notTaken, unlessRefused } from '../refusals.ts';
import { conditionOf, type ManagedObject, type ManagedSpec } from '../resource.ts';
import { parseSpec } from '../spec.ts';
import type { Census, Count } from './census.ts';
import type { ExternalContract } from './contract.ts';
import { type CreateOptions, SafeCreate } from './create.ts';
import { decide } from './decide.ts';
import { PendingCreates } from './pending-creates.ts';

/** A kind whose external id the service assigns. */
export function externalKind<Spec extends ManagedSpec, Observed, Client>(
  definition: KindDefinition,
  contract: ExternalContract<Spec, Observed, Client>,
): Kind<KindOptions<Client>> & { readonly contract: ExternalContract<Spec, Observed, Client> } {
  return {
    definition,
    contract,
    controller: (options) => {
      const { client, namespaces, createSettleMs, monotonic, census } = options;
      const listResources = () => listEverywhere(client, definition.type, namespaces);
      const epoch = monotonic.now();
      return kindController(definition.type, options, () => ({
        flow: new ExternalFlow(contract, { listResources, createSettleMs, census }),
        epochOf: () => epoch,
      }));
    },
  };
}

/** Two witnesses of one absence are this far apart. */
const apartMs = 3_000;
/** So many must be missing, and no fewer than are there, for it to be in doubt that they are gone. */
const fewestInDoubt = 2;
const doubtRetryMs = 30_000;
const countedForMs = 1_000;
/** What is not there is asked for by its id no more often, when nobody asks for it. */
const rareMs = 600_000;
const doubtOfDeletedMs = 120_000;
/** Before what vanished again is created again; doubling. */
const firstPauseMs = 60_000;
const longestPauseMs = 3_600_000;

export interface ExternalFlowOptions extends CreateOptions {
  /** Of all kinds. */
  readonly census: Census;
}

/** The flow of kinds whose external id the service assigns: crash-safe create, adoption, shared sweeps. */
export class ExternalFlow<Spec extends ManagedSpec, Observed, Client> implements Flow<Client> {
  readonly #contract: ExternalContract<Spec, Observed, Client>;
  readonly #options: ExternalFlowOptions;
  readonly #pending = new PerConnection<Client, PendingCreates<Observed>>();

  constructor(contract: ExternalContract<Spec, Observed, Client>, options: ExternalFlowOptions) {
    this.#contract = contract;
    this.#options = options;
  }

  claims(object: ManagedObject): readonly string[] {
    return claimOf(object);
  }

  async ensure(context: ReconcileContext<Client>): Promise<Outcome> {
    const rival = this.#rivalOf(context, context.object);
    if (rival !== undefined) return report('Conflict', this.#conflict(context.object, rival));
    const parsed = parseSpec(this.#contract.spec, context.object);
    if ('report' in parsed) return parsed.report;
    const generation = `generation ${context.object.metadata.generation}`;
    const outcome = await unlessRefused(context, generation, () => this.#ensure(context, parsed.spec));
    return this.#withProof(context, outcome);
  }

  /** What this process made is proven by its own status, whatever became of the rest. */
  #withProof(context: ReconcileContext<Client>, outcome: Outcome): Outcome {
    const { made } = context.memory.of(context.uid);
    const isKnown = outcome.kind === 'finished' || outcome.ownership !== undefined;
    if (isKnown || made === undefined || ownershipOf(context.object).id !== undefined) return outcome;
    const { url: apiURL } = context.connection;
    const account = requestedAccountOf(context.object);
    const ownership = { account, id: made.id, how: 'Created' as const, ...(apiURL === undefined ? {} : { apiURL }) };
    return { ...outcome, ownership };
  }

  leavesNothing(object: ManagedObject): boolean {
    return isKept(object) || (ownedIDOf(object) === undefined && intentOf(object) === undefined);
  }

  /** Deletes what this resource owns, once, and lets the resource go when that is confirmed. What another one has a better claim to is that one's to delete. */
  async remove(context: ReconcileContext<Client>): Promise<Outcome> {
    const resolved = await this.#createOf(context).resolve();
    if ('report' in resolved) return resolved.report;
    const { object } = resolved;
    const id = ownedIDOf(object);
    if (id !== undefined && this.#rivalOf(context, object) === undefined) {
      const unsure = await this.#delete(context, id);
      if (unsure !== undefined) return unsure;
    }
    await context.writer.removeFinalizer(object);
    return { kind: 'finished' };
  }

  leftBehind(object: ManagedObject): string {
    const { displayName } = this.#contract;
    const id = ownedIDOf(object);
    return id === undefined ? `what an unanswered create of the ${displayName} may have made` : `${displayName} ${id}`;
  }

  forget({ metadata: { uid = '' } }: ManagedObject): void {
    for (const pending of this.#pending.all()) pending.forget(uid);
  }

  close(): void {
    for (const pending of this.#pending.all()) pending.cache.close();
  }

  /** Makes the external object be as the spec asks: observe, decide, act, until there is nothing left to do. */
  async #ensure(context: ReconcileContext<Client>, spec: Spec): Promise<Outcome> {
    const { displayName, diff } = this.#contract;
    const create = this.#createOf(context);
    let step = await create.resolve();
    const sent = new Set<string>();
    while ('object' in step) {
      const object = await this.#recorded(context, step.object);
      const id = externalIDOf(object);
      const observed = id === undefined ? undefined : await this.#observe(context, id);
      const fields = observed === undefined ? {} : this.#contract.status(observed);
      const misnamed = misnamedIDOf(object);
      if (misnamed !== undefined && id !== undefined) {
        if (observed !== undefined) return this.#misnamed(context, object, { id, misnamed, fields });
        const unsure = await this.#confirmGone(context, id);
        if (unsure !== undefined) return unsure;
        const disowned = await this.#disown(context, object);
        step = { object: await context.writer.annotate(disowned, { [annotation.createdID]: null }) };
        continue;
      }
      const differences = observed === undefined ? [] : diff(spec, observed);
      const imported = id !== undefined && originOf(object, id) !== 'Created';
      const { managementPolicy } = spec;
      const action = decide({
        displayName,
        managementPolicy,
        id,
        imported,
        owned: ownedIDOf(object) !== undefined,
        exists: observed !== undefined,
        differences,
      });
      switch (action.kind) {
        case 'none': {
          const kept = await this.#keep(context, object, id);
          this.#tellOfLateTwins(context);
          const ownership = this.#ownership(context, kept, id);
          return report('Available', `${displayName} ${id} is as the spec asks`, { fields, ...ownership });
        }
        case 'stop':
          return report(action.reason, action.message, { fields });
        case 'create': {
          if (id === undefined) {
            step = await create.perform(object, spec);
            break;
          }
          const unsure = (await this.#confirmGone(context, id)) ?? this.#tooSoon(context, id);
          if (unsure !== undefined) return unsure;
          step = await create.perform(await this.#disown(context, object), spec);
          break;
        }
        case 'update': {
          const ignored = action.fields.filter((field) => sent.has(field)).map((field) => `spec.${field}`);
          if (ignored.length > 0) return { ...notTaken(displayName, ignored), fields };
          step = { object: await context.writer.addFinalizer(object) };
          await this.#update(context, spec, id as string, action.fields);
          for (const field of action.fields) sent.add(field);
        }
      }
    }
    return step.report;
  }

  /**
   * What is out there under this id; undefined when it certainly does not exist. Something a person asked for is answered
   * by a fresh get; everything else by the account-wide sweep, as long as it began after the resource was last due for a
   * check and after its last failed call.
   */
  async #observe(context: ReconcileContext<Client>, id: string): Promise<Observed | undefined> {
    const { memory, uid, requested, call, connection, monotonic } = context;
    const { cache } = this.#pendingOf(context);
    const facts = memory.of(uid);
    const since = freshSince(context);
    let observed = cache.known(id, since);
    if (observed === undefined && !requested) {
      await cache.sweep(since, call);
      observed = cache.known(id, since);
      // A list would show that it came: alone it is looked for now and then.
      const wasAbsent = facts.absent?.id === id && monotonic.now() - facts.absent.lookedAt < rareMs;
      if (observed === undefined && wasAbsent) return undefined;
    }
    if (observed === undefined) {
      const sentAt = monotonic.now();
      observed = await this.#contract.get(connection.client, id, call);
      if (observed !== undefined) cache.record(observed, sentAt);
      else facts.absent = absentSince(facts, id, sentAt);
    }
    facts.observed = true;
    if (observed !== undefined) {
      delete facts.absent;
      facts.seen = { id, at: monotonic.now() };
    }
    return observed;
  }

  /**
   * A second witness for what an answer said is not there: a list that begins some time later and ends without it. Reports
   * while there is none, and while so much of the account is gone that something else must be wrong.
   */
  async #confirmGone(context: ReconcileContext<Client>, id: string): Promise<Report | undefined> {
    const { memory, uid, object, monotonic, call } = context;
    const { displayName } = this.#contract;
    const { cache } = this.#pendingOf(context);
    const facts = memory.of(uid);
    const now = monotonic.now();
    const { at, lookedAt, ...absent } = absentSince(facts, id, facts.absent?.id === id ? facts.absent.lookedAt : now);
    const confirmed = absent.confirmed || isConfirmed(context);
    facts.absent = { id, at, lookedAt, confirmed };
    const apartMs = this.#apartMs(context, id);
    const reason = isDeleting(object) ? 'Deleting' : 'Creating';
    const waitMs = at + apartMs - now;
    if (waitMs > 0) {
      this.#count(context);
      const message = `${displayName} ${id} was not found: making sure that it is gone`;
      return report(reason, message, { retry: { kind: 'after', ms: waitMs } });
    }
    await cache.sweep(at + apartMs, call);
    if (cache.known(id, at) !== undefined) {
      delete facts.absent;
      const message = `${displayName} ${id} is in a list and is not found alone: looking again`;
      return report(reason, message, { retry: { kind: 'backoff' } });
    }
    const doubt = confirmed ? undefined : this.#doubt(context);
    if (doubt === undefined) return undefined;
    // What is to go has nothing left to lose but the record of it: it is not kept for ever.
    if (isDeleting(object) && monotonic.now() - at >= doubtOfDeletedMs) return undefined;
    return report('Unreachable', doubt, { retry: { kind: 'after', ms: doubtRetryMs } });
  }

  /** How far apart two witnesses are: far, when nobody has seen the object with the key in force, which may be a wrong one. */
  #apartMs({ memory, uid, connection }: ReconcileContext<Client>, id: string): number {
    const { seen } = memory.of(uid);
    const isKnown = seen?.id === id && seen.at > (connection.since ?? Number.NEGATIVE_INFINITY);
    return isKnown ? apartMs : Math.max(apartMs, this.#options.createSettleMs);
  }

  /** Why nothing is concluded of what is missing from the account: most of it is. */
  #doubt(context: ReconcileContext<Client>): string | undefined {
    const { present, missing } = this.#count(context);
    if (missing < fewestInDoubt || missing < present) return undefined;
    return (
      `${missing} of ${present + missing} objects that this operator made in the account vanished at once: is it the right ` +
      `key and address? If they are gone, set the annotation ${annotation.reconcileAt} on this resource or its account`
    );
  }

  /** What resources own in the account, of all kinds that were counted. */
  #count(context: ReconcileContext<Client>): Count {
    const { cache: resources, object, memory, connection } = context;
    const { census } = this.#options;
    const account = accountKeyOf(object);
    const { cache, counted } = this.#pendingOf(context);
    const now = context.monotonic.now();
    // All that vanish at once ask at once.
    if (counted.sweptAt === cache.sweptAt && now - counted.at < countedForMs) return census.last(connection);
    Object.assign(counted, { sweptAt: cache.sweptAt, at: now });
    const there = new Set(cache.current().map((each) => this.#contract.identity(each).id));
    for (const odd of cache.odd()) if (odd.id !== undefined) there.add(odd.id);
    const count = { present: 0, missing: 0 };
    for (const other of resources.list()) {
      const id = ownedIDOf(other);
      if (id === undefined || accountKeyOf(other) !== account) continue;
      const { deletedID, made } = memory.of(other.metadata.uid ?? '');
      // Neither says anything of the key: what is deleted is gone, and what was made with it is where it leads.
      if (deletedID === id || (made?.id === id && made.at >= (connection.since ?? 0))) continue;
      if (there.has(id)) count.present += 1;
      else count.missing += 1;
    }
    return census.add(connection, this, count);
  }

  /** What vanishes again and again is created later and later. */
  #tooSoon({ memory, uid, monotonic }: ReconcileContext<Client>, id: string): Report | undefined {
    const facts = memory.of(uid);
    const { times, at } = facts.recreated ?? { times: 0, at: Number.NEGATIVE_INFINITY };
    const now = monotonic.now();
    const pauseMs = times === 0 ? 0 : Math.min(firstPauseMs * 2 ** (times - 1), longestPauseMs);
    const waitMs = at + pauseMs - now;
    if (waitMs > 0) {
      const message = `${this.#contract.displayName} ${id} vanished again, after ${times} others: another is created later`;
      return report('Creating', message, { retry: { kind: 'after', ms: waitMs } });
    }
    const isCalm = now - at > 2 * longestPauseMs;
    facts.recreated = { times: isCalm ? 1 : times + 1, at: now };
    return undefined;
  }

  #misnamed(
    context: ReconcileContext<Client>,
    object: ManagedObject,
    { id, misnamed, fields }: { readonly id: string; readonly misnamed: string; readonly fields: Report['fields'] },
  ): Report {
    const message =
      `${annotation.externalID} names ${misnamed}, but this resource manages ${this.#contract.displayName} ${id}: set it ` +
      'back, or name the other one in a resource of its own';
    return report('Rejected', message, {
      ...(fields === undefined ? {} : { fields }),
      ...this.#ownership(context, object, id),
    });
  }

  /** What is gone is not this resource's any more, before its record gives way to another. */
  async #disown({ writer, memory, uid }: ReconcileContext<Client>, object: ManagedObject): Promise<ManagedObject> {
    delete memory.of(uid).made;
    const { id, how: _, ...ownership } = ownershipOf(object);
    if (id === undefined) return object;
    const { id: __, ...status } = object.status ?? {};
    return writer.writeStatus(object, { ...status, ownership });
  }

  #ownership(
    { connection }: ReconcileContext<Client>,
    object: ManagedObject,
    id: string | undefined,
  ): Pick<Report, 'ownership'> {
    if (id === undefined || (object.spec.managementPolicy === 'Observe' && ownedIDOf(object) === undefined)) return {};
    const { url: apiURL } = connection;
    const account = requestedAccountOf(object);
    return { ownership: { account, id, how: originOf(object, id), ...(apiURL === undefined ? {} : { apiURL }) } };
  }

  /** What a create made that was taken for lost, and that nobody holds. */
  #tellOfLateTwins(context: ReconcileContext<Client>): void {
    const { uid, monotonic, cache: resources, object } = context;
    const { suspects, cache } = this.#pendingOf(context);
    const suspect = suspects.get(uid);
    if (suspect === undefined) return;
    if (monotonic.now() > suspect.until) suspects.delete(uid);
    const held = new Set(resources.list().map(externalIDOf));
    for (const each of cache.current()) {
      const { id, createdAt } = this.#contract.identity(each);
      if (Date.parse(createdAt) < suspect.backTo || held.has(id) || suspect.toldOf.has(id)) continue;
      if (fingerprint(this.#contract.contentOf(each)) !== suspect.content) continue;
      suspect.toldOf.add(id);
      const note = `${this.#contract.displayName} ${id} is held by no resource: a create that was taken for lost may have made it`;
      emit({ ...context, object }, 'Orphaned', note);
    }
  }

  async #update(context: ReconcileContext<Client>, spec: Spec, id: string, fields: readonly string[]): Promise<void> {
    const { connection, call, monotonic, drift } = context;
    const observed = await this.#contract.update(connection.client, id, spec, new Set(fields), call);
    this.#pendingOf(context).cache.record(observed, monotonic.now());
    const what = `${fields.join(', ')} of ${this.#contract.displayName} ${id}`;
    if (drift) emit(context, 'DriftCorrected', `put back ${what}`);
    else emit(context, 'Updated', `updated ${what}`);
    if (drift) context.onDriftCorrected?.();
  }

  /** Whatever is managed must be held by the finalizer, and its id must be on durable record. */
  async #keep(
    context: ReconcileContext<Client>,
    object: ManagedObject,
    id: string | undefined,
  ): Promise<ManagedObject> {
    if (id !== undefined && originOf(object, id) !== 'Created' && object.status?.id !== id) {
      emit(context, 'Adopted', `adopted ${this.#contract.displayName} ${id}, named by ${annotation.externalID}`);
    }
    return object.spec.managementPolicy === 'Observe' || id === undefined ? object : this.#record(context, object, id);
  }

  /** What somebody wiped is put back from what the status knows. */
  async #recorded(context: ReconcileContext<Client>, object: ManagedObject): Promise<ManagedObject> {
    const { id } = ownershipOf(object);
    const isWiped = id !== undefined && annotationOf(object, annotation.externalID) === undefined;
    return isWiped ? this.#record(context, object, id) : object;
  }

  #record({ writer, connection }: ReconcileContext<Client>, object: ManagedObject, id: string): Promise<ManagedObject> {
    return writer.record(object, {
      [annotation.externalID]: id,
      ...(originOf(object, id) === 'Created' ? { [annotation.createdID]: id } : {}),
      [annotation.account]: requestedAccountOf(object),
      [annotation.apiURL]: connection.url ?? null,
    });
  }

  /** Confirmed: by an answer to the delete, or, of what was gone already, by a second witness. Reports while it is not. */
  async #delete(context: ReconcileContext<Client>, id: string): Promise<Report | undefined> {
    const facts = context.memory.of(context.uid);
    // Only the finalizer's removal failed last time.
    if (facts.deletedID === id) return undefined;
    const { displayName } = this.#contract;
    let how = 'was gone already';
    if (facts.absent?.id !== id) {
      const wasSent = facts.deleteSentID === id;
      const result = await this.#contract
        .delete(context.connection.client, id, context.call)
        .catch((error: unknown) => {
          if (!(error instanceof ApiError && error.definite)) facts.deleteSentID = id;
          throw error;
        });
      if (result === 'deleted') how = 'deleted';
      else if (!wasSent) return this.#confirmGone(context, id);
    } else {
      const unsure = await this.#confirmGone(context, id);
      if (unsure !== undefined) return unsure;
    }
    facts.deletedID = id;
    this.#pendingOf(context).cache.forget(id);
    emit(context, 'Deleted', `${displayName} ${id} ${how}`);
    return undefined;
  }

  #createOf(context: ReconcileContext<Client>): SafeCreate<Spec, Observed, Client> {
    return new SafeCreate(context, this.#contract, this.#pendingOf(context), this.#options);
  }

  /** Who has a better claim, by what their accounts really are. */
  #rivalOf({ cache, accountOf }: ReconcileContext<Client>, object: ManagedObject): ManagedObject | undefined {
    const [claim] = claimOf(object);
    if (claim === undefined) return undefined;
    const account = accountOf(object);
    const rivals = cache.claimants(claim).filter((other) => accountOf(other) === account);
    return winnerOver(object, rivals, standingOn(claim));
  }

  #conflict(object: ManagedObject, rival: ManagedObject): string {
    return `the ${this.#contract.displayName} is managed by ${rivalName(object, rival)}: remove one of the two`;
  }

  #pendingOf({ connection, monotonic }: ReconcileContext<Client>): PendingCreates<Observed> {
    const contract = this.#contract;
    return this.#pending.of(
      connection,
      () =>
        new PendingCreates<Observed>({
          list: (call, onOdd) => contract.list(connection.client, call, onOdd),
          identityOf: (observed) => contract.identity(observed),
          now: () => monotonic.now(),
        }),
    );
  }
}

function absentSince({ absent }: Facts, id: string, lookedAt: number): NonNullable<Facts['absent']> {
  return absent?.id === id ? { ...absent, lookedAt } : { id, at: lookedAt, lookedAt, confirmed: false };
}

/** A person who was told that too much is missing says that it is. */
function isConfirmed({
  object,
  connection,
  memory,
  uid,
}: Pick<ReconcileContext<never>, 'object' | 'memory' | 'uid'> & {
  readonly connection: Pick<Connection<never>, 'confirmedAt'>;
}): boolean {
  const ready = conditionOf(object, 'Ready');
  if (ready?.reason === 'Unreachable' && unhandledReconcileAt(object) !== undefined) return true;
  const { absent } = memory.of(uid);
  return absent !== undefined && (connection.confirmedAt ?? Number.NEGATIVE_INFINITY) >= absent.at;
}

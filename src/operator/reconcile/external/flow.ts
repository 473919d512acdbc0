import { ApiError } from '../../../common/http/errors.ts';
import { annotation, annotationOf, intentOf } from '../annotations.ts';
import type { ReconcileContext } from '../context.ts';
import { emit } from '../events.ts';
import { type Flow, isKept } from '../flow.ts';
import { fingerprint } from '../json.ts';
import type { Kind, KindDefinition } from '../kind.ts';
import { type KindOptions, kindController, listEverywhere } from '../kind-controller.ts';
import { type Outcome, type Report, report } from '../outcome.ts';
import {
  claimOf,
  externalIDOf,
  misnamedIDOf,
  originOf,
  ownedIDOf,
  ownershipOf,
  placeOf,
  placeRecord,
  rivalName,
  standingOn,
  winnerOver,
} from '../ownership.ts';
import { PerConnection } from '../per-connection.ts';
import { notTaken, unlessRefused } from '../refusals.ts';
import type { ManagedObject, ManagedSpec } from '../resource.ts';
import { parseSpec } from '../spec.ts';
import type { Census } from './census.ts';
import type { ExternalContract } from './contract.ts';
import { type CreateOptions, SafeCreate } from './create.ts';
import { decide } from './decide.ts';
import { PendingCreates } from './pending-creates.ts';
import { Presence } from './presence.ts';

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
    return { ...outcome, ownership: { ...placeOf(context), id: made.id, how: 'Created' } };
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
    const presence = this.#presenceOf(context);
    let step = await create.resolve();
    const sent = new Set<string>();
    while ('object' in step) {
      const object = await this.#recorded(context, step.object);
      const id = externalIDOf(object);
      const observed = id === undefined ? undefined : await presence.observe(id);
      const fields = observed === undefined ? {} : this.#contract.status(observed);
      const misnamed = misnamedIDOf(object);
      if (misnamed !== undefined && id !== undefined) {
        if (observed !== undefined) return this.#misnamed(context, object, { id, misnamed, fields });
        const unsure = await presence.confirmGone(id);
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
          const unsure = (await presence.confirmGone(id)) ?? presence.tooSoon(id);
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
    return { ownership: { ...placeOf({ object, connection }), id, how: originOf(object, id) } };
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
      ...placeRecord({ object, connection }),
    });
  }

  /** Confirmed: by an answer to the delete, or, of what was gone already, by a second witness. Reports while it is not. */
  async #delete(context: ReconcileContext<Client>, id: string): Promise<Report | undefined> {
    const presence = this.#presenceOf(context);
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
      else if (!wasSent) return presence.confirmGone(id);
    } else {
      const unsure = await presence.confirmGone(id);
      if (unsure !== undefined) return unsure;
    }
    facts.deletedID = id;
    this.#pendingOf(context).cache.forget(id);
    emit(context, 'Deleted', `${displayName} ${id} ${how}`);
    return undefined;
  }

  #presenceOf(context: ReconcileContext<Client>): Presence<Observed, Client> {
    return new Presence(context, this.#contract, this.#pendingOf(context), this.#options);
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

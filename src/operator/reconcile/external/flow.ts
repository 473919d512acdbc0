import { annotation, annotationOf, intentOf } from '../annotations.ts';
import { claimOf, externalIDOf, requestedAccountOf, winnerOver } from '../claims.ts';
import { freshSince, type ReconcileContext } from '../context.ts';
import { emit } from '../events.ts';
import { type Flow, isKept } from '../flow.ts';
import type { Kind, KindDefinition } from '../kind.ts';
import { type KindOptions, kindController, listEverywhere } from '../kind-controller.ts';
import { type Outcome, report } from '../outcome.ts';
import { PerConnection } from '../per-connection.ts';
import { notTaken, unlessRefused } from '../refusals.ts';
import type { ManagedObject, ManagedSpec } from '../resource.ts';
import { parseSpec } from '../spec.ts';
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
      const { client, namespaces, createSettleMs, clock } = options;
      const listResources = () => listEverywhere(client, definition.type, namespaces);
      const epoch = clock.now();
      return kindController(definition.type, options, () => ({
        flow: new ExternalFlow(contract, { listResources, createSettleMs }),
        epochOf: () => epoch,
      }));
    },
  };
}

/** The flow of kinds whose external id the service assigns: crash-safe create, adoption, shared sweeps. */
export class ExternalFlow<Spec extends ManagedSpec, Observed, Client> implements Flow<Client> {
  readonly #contract: ExternalContract<Spec, Observed, Client>;
  readonly #options: CreateOptions;
  readonly #pending = new PerConnection<Client, PendingCreates<Observed>>();

  constructor(contract: ExternalContract<Spec, Observed, Client>, options: CreateOptions) {
    this.#contract = contract;
    this.#options = options;
  }

  claims(object: ManagedObject): readonly string[] {
    return claimOf(object);
  }

  async ensure(context: ReconcileContext<Client>): Promise<Outcome> {
    const rival = this.#rivalOf(context);
    if (rival !== undefined) return report('Conflict', this.#conflict(rival));
    const parsed = parseSpec(this.#contract.spec, context.object);
    if ('report' in parsed) return parsed.report;
    const generation = `generation ${context.object.metadata.generation}`;
    return unlessRefused(context, generation, () => this.#ensure(context, parsed.spec));
  }

  leavesNothing(object: ManagedObject): boolean {
    return isKept(object) || (externalIDOf(object) === undefined && intentOf(object) === undefined);
  }

  /** Deletes the external object, once, and lets the resource go when that is confirmed. What an older resource holds is that one's to delete. */
  async remove(context: ReconcileContext<Client>): Promise<Outcome> {
    let { object } = context;
    if (this.#rivalOf(context) === undefined) {
      const resolved = await this.#createOf(context).resolve();
      if ('report' in resolved) return resolved.report;
      object = resolved.object;
      await this.#delete(context, externalIDOf(object));
    }
    await context.writer.removeFinalizer(object);
    return { kind: 'finished' };
  }

  leftBehind(object: ManagedObject): string {
    const { displayName } = this.#contract;
    const id = externalIDOf(object);
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
      const { object } = step;
      const id = externalIDOf(object);
      const observed = id === undefined ? undefined : await this.#observe(context, id);
      const fields = observed === undefined ? {} : this.#contract.status(observed);
      const differences = observed === undefined ? [] : diff(spec, observed);
      const imported = isImported(object, id);
      const { managementPolicy } = spec;
      const action = decide({
        displayName,
        managementPolicy,
        id,
        imported,
        exists: observed !== undefined,
        differences,
      });
      switch (action.kind) {
        case 'none':
          await this.#keep(context, object, id);
          return report('Available', `${displayName} ${id} is as the spec asks`, { fields });
        case 'stop':
          return report(action.reason, action.message, { fields });
        case 'create':
          step = await create.perform(object, spec);
          break;
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
    const { memory, uid, requested, call, connection, clock } = context;
    const { cache } = this.#pendingOf(context);
    const since = freshSince(context);
    let observed = cache.known(id, since);
    if (observed === undefined && !requested) {
      await cache.sweep(since, call);
      observed = cache.known(id, since);
    }
    if (observed === undefined) {
      const sentAt = clock.now();
      observed = await this.#contract.get(connection.client, id, call);
      if (observed !== undefined) cache.record(observed, sentAt);
    }
    memory.of(uid).observed = true;
    return observed;
  }

  async #update(context: ReconcileContext<Client>, spec: Spec, id: string, fields: readonly string[]): Promise<void> {
    const { connection, call, clock, drift } = context;
    const observed = await this.#contract.update(connection.client, id, spec, new Set(fields), call);
    this.#pendingOf(context).cache.record(observed, clock.now());
    const what = `${fields.join(', ')} of ${this.#contract.displayName} ${id}`;
    if (drift) emit(context, 'DriftCorrected', `put back ${what}`);
    else emit(context, 'Updated', `updated ${what}`);
    if (drift) context.onDriftCorrected?.();
  }

  /** Whatever is managed must be held by the finalizer, and its id must be on durable record. */
  async #keep(context: ReconcileContext<Client>, object: ManagedObject, id: string | undefined): Promise<void> {
    const { writer } = context;
    if (isImported(object, id) && object.status?.id !== id) {
      emit(context, 'Adopted', `adopted ${this.#contract.displayName} ${id}, named by ${annotation.externalID}`);
    }
    const isRecorded = annotationOf(object, annotation.externalID) !== undefined || id === undefined;
    const kept = isRecorded ? object : await writer.annotate(object, recordOf(object, id));
    if (object.spec.managementPolicy !== 'Observe') await writer.addFinalizer(kept);
  }

  /** Already deleted when only the finalizer's removal failed last time. */
  async #delete(context: ReconcileContext<Client>, id: string | undefined): Promise<void> {
    const facts = context.memory.of(context.uid);
    if (id === undefined || facts.deletedID === id) return;
    const result = await this.#contract.delete(context.connection.client, id, context.call);
    facts.deletedID = id;
    this.#pendingOf(context).cache.forget(id);
    const how = result === 'deleted' ? 'deleted' : 'was gone already';
    emit(context, 'Deleted', `${this.#contract.displayName} ${id} ${how}`);
  }

  #createOf(context: ReconcileContext<Client>): SafeCreate<Spec, Observed, Client> {
    return new SafeCreate(context, this.#contract, this.#pendingOf(context), this.#options);
  }

  #rivalOf({ object, cache }: ReconcileContext<Client>): ManagedObject | undefined {
    const rivals = claimOf(object).flatMap((claim) => cache.claimants(claim));
    return winnerOver(object, rivals);
  }

  #conflict({ kind, metadata: { namespace, name } }: ManagedObject): string {
    const { displayName } = this.#contract;
    return `the ${displayName} is managed by ${kind} ${namespace}/${name}, which is older: remove one of the two`;
  }

  #pendingOf({ connection, clock }: ReconcileContext<Client>): PendingCreates<Observed> {
    const contract = this.#contract;
    return this.#pending.of(
      connection,
      () =>
        new PendingCreates<Observed>({
          list: (call, onOdd) => contract.list(connection.client, call, onOdd),
          idOf: (observed) => contract.identity(observed).id,
          now: () => clock.now(),
        }),
    );
  }
}

function isImported(object: ManagedObject, id: string | undefined): boolean {
  return annotationOf(object, annotation.externalID) !== undefined && annotationOf(object, annotation.createdID) !== id;
}

/** An id that only the status remembers. */
function recordOf(object: ManagedObject, id: string): Readonly<Record<string, string>> {
  return {
    [annotation.externalID]: id,
    [annotation.createdID]: id,
    [annotation.account]: requestedAccountOf(object),
  };
}

import { PerConnection } from '../connections/per-connection.ts';
import type { ReconcileContext } from '../context.ts';
import { type Flow, isKept } from '../flow.ts';
import { leaveTo } from '../ownership/leave-to.ts';
import { claimOf, formerlyNamedIDOf, isObserver, ownedIDOf, ownershipOf, unusableID } from '../ownership/ownership.ts';
import { unlessTaken } from '../permits.ts';
import { annotation, hasIntent } from '../resource/annotations.ts';
import type { CurrentResource } from '../resource/current-resource.ts';
import type { ManagedObject, ManagedSpec } from '../resource/resource.ts';
import { parseSpec } from '../resource/spec.ts';
import { type Outcome, type Report, report, reportDeleteFailure } from '../status/outcome.ts';
import { unlessRefused } from '../status/refusals.ts';
import { AccountObjects } from './account-objects.ts';
import { SafeChange } from './change.ts';
import { Claims } from './claims.ts';
import type { ExternalContract } from './contract.ts';
import { Convergence, type Means } from './convergence.ts';
import { isBegun, recordCreated, SafeCreate } from './create.ts';
import { LostCreate } from './lost-create.ts';
import type { ExternalFlowOptions } from './options.ts';
import { Presence } from './presence.ts';
import { ExternalRecord } from './record.ts';
import { Rivals } from './rivals.ts';

/** The flow of kinds whose external id the service assigns: crash-safe create, adoption, shared sweeps. */
export class ExternalFlow<Spec extends ManagedSpec, Observed, Client> implements Flow<Client> {
  readonly #contract: ExternalContract<Spec, Observed, Client>;
  readonly #options: ExternalFlowOptions;
  readonly #objects = new PerConnection<Client, AccountObjects<Observed>>();
  readonly #claims = new Claims();
  readonly #rivals = new Rivals(this.#claims);

  constructor(contract: ExternalContract<Spec, Observed, Client>, options: ExternalFlowOptions) {
    this.#contract = contract;
    this.#options = options;
  }

  /** Who only observes claims nothing: what is proven to be his is known. */
  claims(object: ManagedObject): readonly string[] {
    const { id } = ownershipOf(object);
    if (!isObserver(object)) return claimOf(object);
    return id === undefined ? [] : [id];
  }

  async ensure(context: ReconcileContext<Client>): Promise<Outcome> {
    const { object } = context.resource;
    const unusable = unusableID(object);
    if (unusable !== undefined) return report('Rejected', unusable);
    // What a create made is looked for first: who named another's object meanwhile would leave it to nobody.
    const conflict = !hasIntent(object) ? this.#rivals.conflict(context, this.#contract) : undefined;
    if (conflict !== undefined) return conflict;
    const former = isObserver(object) ? undefined : formerlyNamedIDOf(object);
    if (former !== undefined) return report('Rejected', this.#unnamed(former));
    const parsed = parseSpec(this.#contract.spec, object);
    if ('report' in parsed) return parsed.report;
    const generation = `generation ${object.metadata.generation}`;
    const outcome = await unlessRefused(context, generation, () => this.#convergence(context, parsed.spec).perform());
    return new ExternalRecord(context).withProof(outcome);
  }

  isBegun(object: ManagedObject): boolean {
    return isBegun(object);
  }

  /** The mark is of the create that this process had an answer to: with the key of another account no list shows what it made. */
  async handOver(resource: CurrentResource): Promise<void> {
    const made = this.#claims.claimOf(resource.uid);
    if (made !== undefined && isBegun(resource.object)) await recordCreated(resource, made);
  }

  leavesNothing(object: ManagedObject): boolean {
    return !hasIntent(object) && (isKept(object) || ownedIDOf(object) === undefined);
  }

  /**
   * Finds out what a create made, and deletes what this resource owns, once, unless that is to be kept. What another one has a
   * better claim to is that one's to delete.
   */
  async remove(context: ReconcileContext<Client>): Promise<Outcome> {
    const { resource } = context;
    const means = this.#meansOf(context);
    const unresolved = await means.lost.resolve();
    if (unresolved !== undefined) return unresolved;
    const id = isKept(resource.object) ? undefined : ownedIDOf(resource.object);
    const unsure = id === undefined ? undefined : await this.#deleteOrLeave(context, means, id);
    return unsure ?? { kind: 'finished' };
  }

  leftBehind(object: ManagedObject): string {
    const { displayName } = this.#contract;
    const id = ownedIDOf(object);
    return id === undefined ? `what an unanswered create of the ${displayName} may have made` : `${displayName} ${id}`;
  }

  /** By annotations alone nobody had anything. */
  gone(object: ManagedObject): void {
    const { uid = '' } = object.metadata;
    const had = ownershipOf(object).id ?? this.#claims.claimOf(uid);
    if (had !== undefined) this.#claims.letGo(had, uid);
  }

  forget({ metadata: { uid = '' } }: ManagedObject): void {
    this.#claims.unclaim(uid);
    for (const objects of this.#objects.all()) objects.forget(uid);
  }

  close(): void {
    for (const objects of this.#objects.all()) objects.cache.close();
  }

  #convergence(context: ReconcileContext<Client>, spec: Spec): Convergence<Spec, Observed, Client> {
    const objects = this.#objectsOf(context);
    return new Convergence(context, this.#meansOf(context), {
      contract: this.#contract,
      spec,
      objects,
      rivals: this.#rivals,
    });
  }

  #meansOf(context: ReconcileContext<Client>): Means<Spec, Observed, Client> {
    const contract = this.#contract;
    const objects = this.#objectsOf(context);
    return {
      lost: new LostCreate(context, contract, objects, this.#options),
      create: new SafeCreate(context, contract, objects),
      change: new SafeChange(context, contract, objects),
      presence: new Presence(context, contract, objects, this.#options),
      record: new ExternalRecord(context),
    };
  }

  async #deleteOrLeave(
    context: ReconcileContext<Client>,
    { change, presence }: Means<Spec, Observed, Client>,
    id: string,
  ): Promise<Report | undefined> {
    const keeper = this.#rivals.keeperOf(context, id);
    if (keeper !== undefined) return leaveTo(context, keeper, id, `${this.#contract.displayName} ${id}`);
    const call = unlessTaken(context.call, () => this.#rivals.keeperOf(context, id) !== undefined);
    return unlessRefused(context, `delete ${id}`, () => change.delete(id, presence, call).catch(reportDeleteFailure));
  }

  #unnamed(id: string): string {
    return (
      `this resource stood for ${this.#contract.displayName} ${id}, which it does not manage, and names nothing any more: set ` +
      `${annotation.externalID} to ${id} to have it managed, or delete this resource and create one that makes its own`
    );
  }

  #objectsOf({ connection, time }: ReconcileContext<Client>): AccountObjects<Observed> {
    const contract = this.#contract;
    return this.#objects.of(
      connection,
      () =>
        new AccountObjects<Observed>({
          claims: this.#claims,
          list: (call, onOdd) => contract.list(connection.client, call, onOdd),
          identityOf: (observed) => contract.identity(observed),
          now: () => time.now(),
        }),
    );
  }
}

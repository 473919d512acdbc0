import { annotation, intentOf } from '../annotations.ts';
import type { ReconcileContext } from '../context.ts';
import type { CurrentResource } from '../current-resource.ts';
import { type Flow, isKept } from '../flow.ts';
import { leaveTo } from '../leave-to.ts';
import { type Outcome, type Report, report, reportDeleteFailure, reportFailure } from '../outcome.ts';
import {
  accountKeyOf,
  claimOf,
  externalIDOf,
  formerlyNamedIDOf,
  isObserver,
  misnamedIDOf,
  movedAccount,
  nowhere,
  originOf,
  ownedIDOf,
  ownershipOf,
  rivalName,
  unusableID,
} from '../ownership.ts';
import { PerConnection } from '../per-connection.ts';
import { isSentAgain, notTaken, unlessRefused } from '../refusals.ts';
import type { ManagedObject, ManagedSpec } from '../resource.ts';
import { parseSpec } from '../spec.ts';
import { AccountObjects } from './account-objects.ts';
import { doubtRetryMs } from './census.ts';
import { SafeChange } from './change.ts';
import { Claims } from './claims.ts';
import type { ExternalContract } from './contract.ts';
import { recordCreated, SafeCreate } from './create.ts';
import { decide } from './decide.ts';
import { tellOfLateTwins } from './late-twins.ts';
import { LostCreate } from './lost-create.ts';
import type { ExternalFlowOptions } from './options.ts';
import { Presence } from './presence.ts';
import { ExternalRecord } from './record.ts';
import { Rivals } from './rivals.ts';

/** What one reconcile has for one resource's external object. */
interface Means<Spec extends ManagedSpec, Observed, Client> {
  readonly lost: LostCreate<Spec, Observed, Client>;
  readonly create: SafeCreate<Spec, Observed, Client>;
  readonly change: SafeChange<Spec, Observed, Client>;
  readonly presence: Presence<Observed, Client>;
  readonly record: ExternalRecord;
}

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
    const conflict = intentOf(object) === undefined ? this.#conflict(context) : undefined;
    if (conflict !== undefined) return conflict;
    const former = isObserver(object) ? undefined : formerlyNamedIDOf(object);
    if (former !== undefined) return report('Rejected', this.#unnamed(former));
    const parsed = parseSpec(this.#contract.spec, object);
    if ('report' in parsed) return parsed.report;
    const generation = `generation ${object.metadata.generation}`;
    const outcome = await unlessRefused(context, generation, () => this.#ensureUnlessGivenUp(context, parsed.spec));
    return new ExternalRecord(context).withProof(outcome);
  }

  isBegun(object: ManagedObject): boolean {
    return intentOf(object) !== undefined && ownedIDOf(object) === undefined;
  }

  /** The mark is of the create that this process had an answer to: with the key of another account no list shows what it made. */
  async handOver(resource: CurrentResource): Promise<void> {
    const made = this.#claims.claimOf(resource.uid);
    if (made !== undefined && this.isBegun(resource.object)) await recordCreated(resource, made);
  }

  leavesNothing(object: ManagedObject): boolean {
    return intentOf(object) === undefined && (isKept(object) || ownedIDOf(object) === undefined);
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
    const had = ownershipOf(object).id ?? this.#claims.claimOf(object.metadata.uid ?? '');
    if (had !== undefined) this.#claims.letGo(had);
  }

  forget({ metadata: { uid = '' } }: ManagedObject): void {
    this.#claims.unclaim(uid);
    for (const objects of this.#objects.all()) objects.forget(uid);
  }

  close(): void {
    for (const objects of this.#objects.all()) objects.cache.close();
  }

  /** Of what is given up on its way no more is said than that what it made is there. */
  async #ensureUnlessGivenUp(context: ReconcileContext<Client>, spec: Spec): Promise<Report> {
    try {
      return await this.#ensure(context, spec);
    } catch (error) {
      const { resource, call } = context;
      const id = call.signal?.aborted === true ? ownedIDOf(resource.object) : undefined;
      if (id === undefined) throw error;
      return begun(`${this.#contract.displayName} ${id}`);
    }
  }

  /** Makes the external object be as the spec asks: observe, decide, act, until there is nothing left to do. */
  async #ensure(context: ReconcileContext<Client>, spec: Spec): Promise<Report> {
    const means = this.#meansOf(context);
    const wasBegun = this.isBegun(context.resource.object);
    const unresolved = (await means.lost.resolve()) ?? (wasBegun ? elsewhere(context) : undefined);
    if (unresolved !== undefined) return unresolved;
    const sent = new Set<string>();
    let done: Report | undefined;
    while (done === undefined) {
      await means.record.restore();
      done = await this.#step(context, means, spec, sent);
    }
    return done;
  }

  /** @param sent the fields that this reconcile has sent */
  async #step(
    context: ReconcileContext<Client>,
    means: Means<Spec, Observed, Client>,
    spec: Spec,
    sent: Set<string>,
  ): Promise<Report | undefined> {
    const { object } = context.resource;
    const id = externalIDOf(object);
    const isAsAsked = (listed: Observed) => this.#contract.diff(spec, listed).length === 0;
    const observed = id === undefined ? undefined : await means.presence.observe(id, isAsAsked);
    // What another one has just made may have been named meanwhile.
    const conflict = this.#conflict(context);
    if (conflict !== undefined) return conflict;
    const fields = observed === undefined ? {} : this.#contract.status(observed);
    const misnamed = misnamedIDOf(object);
    if (misnamed !== undefined && id !== undefined) {
      if (observed === undefined) return this.#letGo(context, means, id);
      return report('Rejected', this.#misnamed(id, misnamed), { fields, ...means.record.ownership(id) });
    }
    const { displayName } = this.#contract;
    const imported = id !== undefined && originOf(object, id) !== 'Created';
    // What it made and cannot have as asked is its own all the same, also where its annotations are wiped.
    const shown = {
      fields,
      ...(observed === undefined || imported || id === undefined ? {} : means.record.ownership(id)),
    };
    const action = decide({
      displayName,
      managementPolicy: spec.managementPolicy,
      id,
      imported,
      owned: ownedIDOf(object) !== undefined,
      exists: observed !== undefined,
      differences: observed === undefined ? [] : this.#contract.diff(spec, observed),
    });
    switch (action.kind) {
      case 'none':
        return this.#available(context, means.record, id as string, fields);
      case 'stop': {
        const isOwn = id !== undefined && observed === undefined && ownedIDOf(object) === id;
        const doubt = isOwn ? means.presence.doubtOfImport(id) : undefined;
        if (doubt !== undefined) return report('Unreachable', doubt, { retry: { kind: 'after', ms: doubtRetryMs } });
        return report(action.reason, action.message, shown);
      }
      case 'create':
        return (await this.#giveUp(means, id)) ?? this.#replace(context, means, spec);
      case 'update': {
        const ignored = action.fields.filter((field) => sent.has(field)).map((field) => `spec.${field}`);
        if (ignored.length > 0) return { ...notTaken(displayName, ignored), ...shown };
        await context.resource.hold();
        const failure = await means.change.update(id as string, spec, action.fields).catch((error: unknown) => {
          return context.call.signal?.aborted === true ? begun(`${displayName} ${id}`) : reportFailure(error);
        });
        // An import that was never taken over is not shown as one that was.
        if (failure !== undefined) return imported ? failure : { ...failure, ...shown };
        for (const field of action.fields) sent.add(field);
        const as = `${id} by generation ${object.metadata.generation}`;
        if (context.occasion.drift && isSentAgain(context, displayName, as, action.fields))
          await means.presence.look(id as string);
        return undefined;
      }
    }
  }

  async #available(
    context: ReconcileContext<Client>,
    record: ExternalRecord,
    id: string,
    fields: Report['fields'] & object,
  ): Promise<Report> {
    const { displayName } = this.#contract;
    const { object } = context.resource;
    if (!isObserver(object)) {
      if (originOf(object, id) !== 'Created' && object.status?.id !== id)
        context.journal.event('Adopted', `adopted ${displayName} ${id}, named by ${annotation.externalID}`);
      await record.keep(id);
    }
    tellOfLateTwins(context, this.#contract, this.#objectsOf(context));
    return report('Available', `${displayName} ${id} is as the spec asks`, { fields, ...record.ownership(id) });
  }

  /** What was owned is gone: the resource is free for what a person named. Reports unless that is certain. */
  async #letGo(
    { resource }: ReconcileContext<Client>,
    { presence, record }: Means<Spec, Observed, Client>,
    id: string,
  ): Promise<Report | undefined> {
    const unsure = await presence.confirmGone(id);
    if (unsure !== undefined) return unsure;
    await record.disown();
    await resource.annotate({ [annotation.createdID]: null, ...nowhere });
    return undefined;
  }

  /** What was there before another is created; reports unless it is certain that it is gone, and time for another. */
  async #giveUp(
    { presence, record }: Means<Spec, Observed, Client>,
    id: string | undefined,
  ): Promise<Report | undefined> {
    if (id === undefined) return undefined;
    const unsure = (await presence.confirmGone(id)) ?? presence.tooSoon(id);
    if (unsure !== undefined) return unsure;
    await record.disown();
    return undefined;
  }

  /** With what it once had, where that is there after all, as when the right key is back; else with another. */
  async #replace(
    context: ReconcileContext<Client>,
    means: Means<Spec, Observed, Client>,
    spec: Spec,
  ): Promise<Report | undefined> {
    await means.presence.lookForFormer();
    const former = means.presence.former();
    if (former === undefined) return this.#create(context, means, spec);
    await means.record.keep(former, 'Created');
    context.journal.event('Adopted', `took back ${this.#contract.displayName} ${former}, which is there after all`);
    return undefined;
  }

  async #create(
    { resource }: ReconcileContext<Client>,
    { create, presence }: Means<Spec, Observed, Client>,
    spec: Spec,
  ): Promise<Report | undefined> {
    const vanished = externalIDOf(resource.object);
    const failure = await create.perform(spec);
    // What was given up before its mark has replaced nothing.
    if (vanished !== undefined && externalIDOf(resource.object) !== vanished) presence.recreated();
    return failure;
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

  #conflict(context: ReconcileContext<Client>): Report | undefined {
    const { object } = context.resource;
    const [id] = claimOf(object);
    const rival = id === undefined ? undefined : this.#rivals.rivalOf(context, id);
    if (rival === undefined) return undefined;
    const name = rivalName(object, rival);
    return report('Conflict', `the ${this.#contract.displayName} is managed by ${name}: remove one of the two`);
  }

  async #deleteOrLeave(
    context: ReconcileContext<Client>,
    { change, presence }: Means<Spec, Observed, Client>,
    id: string,
  ): Promise<Report | undefined> {
    const keeper = this.#rivals.keeperOf(context, id);
    if (keeper !== undefined) return leaveTo(context, keeper, id, `${this.#contract.displayName} ${id}`);
    return unlessRefused(context, `delete ${id}`, () => change.delete(id, presence).catch(reportDeleteFailure));
  }

  #misnamed(id: string, misnamed: string): string {
    return (
      `${annotation.externalID} names ${misnamed}, but this resource manages ${this.#contract.displayName} ${id}: set it ` +
      'back, or name the other one in a resource of its own'
    );
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

/** Nothing more is made in the account of what was begun where the spec names another one by now. */
function elsewhere({ resource: { object }, connection }: ReconcileContext<unknown>): Report | undefined {
  const moved = movedAccount(object);
  if (moved !== undefined) return report('Rejected', moved);
  if (accountKeyOf(object) === connection.key) return undefined;
  const message = 'an unanswered create in another account made nothing: going on with the one that the spec names';
  return report('Creating', message, { retry: { kind: 'after', ms: 0 } });
}

/** Given up on its way: who goes on with the resource sends the rest. */
function begun(what: string): Report {
  return report('Updating', `${what} is there, and not yet as the spec asks`, { retry: { kind: 'never' } });
}

import type { ReconcileContext } from '../context.ts';
import {
  accountKeyOf,
  externalIDOf,
  isObserver,
  misnamedIDOf,
  movedAccount,
  nowhere,
  originOf,
  ownedIDOf,
} from '../ownership/ownership.ts';
import { unlessTaken } from '../permits.ts';
import { nextRecreation, noteRecreation } from '../recreation.ts';
import { annotation } from '../resource/annotations.ts';
import type { ManagedObject, ManagedSpec } from '../resource/resource.ts';
import { type Report, report, reportFailure } from '../status/outcome.ts';
import { isSentAgain, notTaken } from '../status/refusals.ts';
import type { AccountObjects } from './account-objects.ts';
import { doubtRetryMs } from './census.ts';
import type { SafeChange } from './change.ts';
import type { Difference, ExternalContract } from './contract.ts';
import { isBegun, type SafeCreate } from './create.ts';
import { decide } from './decide.ts';
import { suspect, tellOfLateTwins } from './late-twins.ts';
import type { LostCreate } from './lost-create.ts';
import type { Presence } from './presence.ts';
import type { ExternalRecord } from './record.ts';
import type { Rivals } from './rivals.ts';

/** What one reconcile has for one resource's external object. */
export interface Means<Spec extends ManagedSpec, Observed, Client> {
  readonly lost: LostCreate<Spec, Observed, Client>;
  readonly create: SafeCreate<Spec, Observed, Client>;
  readonly change: SafeChange<Spec, Observed, Client>;
  readonly presence: Presence<Observed, Client>;
  readonly record: ExternalRecord;
}

/** What is asked for, of what, and among whom. */
interface Asked<Spec extends ManagedSpec, Observed, Client> {
  readonly contract: ExternalContract<Spec, Observed, Client>;
  readonly spec: Spec;
  readonly objects: AccountObjects<Observed>;
  readonly rivals: Rivals;
}

/** One reconcile on its way to what the spec asks: observe, decide, act. */
export class Convergence<Spec extends ManagedSpec, Observed, Client> {
  readonly #context: ReconcileContext<Client>;
  readonly #means: Means<Spec, Observed, Client>;
  readonly #asked: Asked<Spec, Observed, Client>;
  /** Fields. */
  readonly #sent = new Set<string>();
  /** Of those, what is not known yet to be taken. */
  #untold: readonly string[] = [];
  /** By a get, since that was sent: the answer to a change may be one of before. */
  #isAskedFor = false;
  /** When the turn of a create had come. */
  #hasLookedAgain = false;

  constructor(
    context: ReconcileContext<Client>,
    means: Means<Spec, Observed, Client>,
    asked: Asked<Spec, Observed, Client>,
  ) {
    this.#context = context;
    this.#means = means;
    this.#asked = asked;
  }

  /** Of what is given up on its way no more is said than that what it made is there. */
  async perform(): Promise<Report> {
    try {
      return await this.#ensure();
    } catch (error) {
      const { resource, call } = this.#context;
      const id = call.signal?.aborted === true ? ownedIDOf(resource.object) : undefined;
      if (id === undefined) throw error;
      return begun(`${this.#asked.contract.displayName} ${id}`);
    }
  }

  /** Until there is nothing left to do. */
  async #ensure(): Promise<Report> {
    const { lost, record } = this.#means;
    const wasBegun = isBegun(this.#context.resource.object);
    const unresolved = (await lost.resolve()) ?? (wasBegun ? elsewhere(this.#context) : undefined);
    if (unresolved !== undefined) return unresolved;
    let done: Report | undefined;
    while (done === undefined) {
      await record.restore();
      done = await this.#step();
    }
    return done;
  }

  async #step(): Promise<Report | undefined> {
    const means = this.#means;
    const { contract, spec, rivals } = this.#asked;
    const context = this.#context;
    const { object } = context.resource;
    const id = externalIDOf(object);
    const isAsAsked = (listed: Observed) => contract.diff(spec, listed).length === 0;
    const observed = id === undefined ? undefined : await means.presence.observe(id, isAsAsked);
    // What another one has just made may have been named meanwhile.
    const conflict = rivals.conflict(context, contract);
    if (conflict !== undefined) return conflict;
    const fields = observed === undefined ? {} : contract.status(observed);
    const misnamed = misnamedIDOf(object);
    if (misnamed !== undefined && id !== undefined) {
      if (observed === undefined) return this.#letGo(id);
      return report('Rejected', this.#misnamed(id, misnamed), { fields, ...means.record.ownership(id) });
    }
    const { displayName } = contract;
    // What this process made and saw go is no import, though an old manifest names it.
    const isFormer = observed === undefined && context.facts.former?.includes(id ?? '') === true;
    const imported = id !== undefined && !isFormer && originOf(object, id) !== 'Created';
    // What it made and cannot have as asked is its own all the same, also where its annotations are wiped.
    const shown = {
      fields,
      ...(observed === undefined || imported || id === undefined ? {} : means.record.ownership(id)),
    };
    const differences = observed === undefined ? [] : contract.diff(spec, observed);
    if (observed !== undefined && id !== undefined) this.#tellTaken(id, differences);
    const action = decide({
      displayName,
      managementPolicy: spec.managementPolicy,
      id,
      imported,
      owned: ownedIDOf(object) !== undefined,
      exists: observed !== undefined,
      differences,
    });
    switch (action.kind) {
      case 'none':
        return this.#available(id as string, fields);
      case 'stop': {
        const isOwn = id !== undefined && observed === undefined && ownedIDOf(object) === id;
        const doubt = isOwn ? means.presence.doubtOfImport(id) : undefined;
        if (doubt !== undefined) return report('Unreachable', doubt, { retry: { kind: 'after', ms: doubtRetryMs } });
        return report(action.reason, action.message, shown);
      }
      case 'create':
        return (await this.#giveUp(id)) ?? this.#replace();
      case 'update': {
        const ignored = action.fields.filter((field) => this.#sent.has(field)).map((field) => `spec.${field}`);
        if (ignored.length > 0) {
          if (this.#isAskedFor) return { ...notTaken(displayName, ignored), ...shown };
          this.#isAskedFor = true;
          await means.presence.look(id as string);
          return undefined;
        }
        await context.resource.hold();
        const call = unlessTaken(context.call, () => rivals.conflict(context, contract) !== undefined);
        const failure = await means.change.update(id as string, spec, action.fields, call).catch((error: unknown) => {
          return context.call.signal?.aborted === true ? begun(`${displayName} ${id}`) : reportFailure(error);
        });
        // An import that was never taken over is not shown as one that was.
        if (failure !== undefined) return imported ? failure : { ...failure, ...shown };
        for (const field of action.fields) this.#sent.add(field);
        this.#untold = action.fields;
        const as = `${id} by generation ${object.metadata.generation}`;
        this.#isAskedFor = context.occasion.drift && isSentAgain(context, displayName, as, action.fields);
        if (this.#isAskedFor) await means.presence.look(id as string);
        return undefined;
      }
    }
  }

  #tellTaken(id: string, differences: readonly Difference[]): void {
    const ignored = new Set(differences.map(({ field }) => field));
    const taken = this.#untold.filter((field) => !ignored.has(field));
    this.#untold = this.#untold.filter((field) => ignored.has(field));
    if (taken.length > 0) this.#means.change.tellUpdated(id, taken);
  }

  async #available(id: string, fields: Report['fields'] & object): Promise<Report> {
    const { contract, objects } = this.#asked;
    const { displayName } = contract;
    const { record } = this.#means;
    const { object } = this.#context.resource;
    if (!isObserver(object)) {
      if (originOf(object, id) !== 'Created' && !hasAdopted(object, id))
        this.#context.journal.event('Adopted', `adopted ${displayName} ${id}, named by ${annotation.externalID}`);
      await record.keep(id);
    }
    tellOfLateTwins(this.#context, contract, objects);
    return report('Available', `${displayName} ${id} is as the spec asks`, { fields, ...record.ownership(id) });
  }

  /** What was owned is gone: the resource is free for what a person named. Reports unless that is certain. */
  async #letGo(id: string): Promise<Report | undefined> {
    const { presence, record } = this.#means;
    const unsure = await presence.confirmGone(id);
    if (unsure !== undefined) return unsure;
    await record.disown();
    await this.#context.resource.annotate({ [annotation.createdID]: null, ...nowhere });
    return undefined;
  }

  /** What was there before another is created; reports unless it is certain that it is gone, and time for another. */
  async #giveUp(id: string | undefined): Promise<Report | undefined> {
    const { presence, record } = this.#means;
    if (id === undefined) return undefined;
    const unsure = (await presence.confirmGone(id)) ?? this.#tooSoon(id) ?? (await presence.isBack(id));
    if (unsure !== undefined) return unsure;
    this.#suspect(id);
    await record.disown();
    return undefined;
  }

  /** What vanishes again and again is created later and later. */
  #tooSoon(id: string): Report | undefined {
    const { times, waitMs } = nextRecreation(this.#context);
    if (waitMs <= 0) return undefined;
    const message = `${this.#asked.contract.displayName} ${id} vanished again, after ${times} others: another is created later`;
    return report('Creating', message, { retry: { kind: 'after', ms: waitMs } });
  }

  /** What nothing but the answer to its create has shown may never have been: what that made is told of. */
  #suspect(id: string): void {
    const { resource, facts, time } = this.#context;
    const { made } = facts;
    if (made?.id === id && made.unshown) suspect(this.#asked.objects, resource.uid, made.unshown, time.now());
  }

  /** With what it once had, where that is there after all, as when the right key is back; else with another. */
  async #replace(): Promise<Report | undefined> {
    const { presence, record } = this.#means;
    const former = await presence.lookForFormer();
    if (former === undefined) return this.#create();
    await record.keep(former, 'Created');
    const { displayName } = this.#asked.contract;
    this.#context.journal.event('Adopted', `took back ${displayName} ${former}, which is there after all`);
    return undefined;
  }

  async #create(): Promise<Report | undefined> {
    const { create } = this.#means;
    const { resource } = this.#context;
    const vanished = externalIDOf(resource.object);
    const failure = await create.perform(this.#asked.spec, () => this.#isToLookAgain());
    // What was given up before its mark has replaced nothing.
    if (vanished !== undefined && externalIDOf(resource.object) !== vanished) noteRecreation(this.#context);
    return failure;
  }

  /** For what was there before. Once: whose turn takes as long each time would never have it. */
  #isToLookAgain(): boolean {
    if (this.#hasLookedAgain || !this.#means.presence.isLookOld()) return false;
    this.#hasLookedAgain = true;
    return true;
  }

  #misnamed(id: string, misnamed: string): string {
    return (
      `${annotation.externalID} names ${misnamed}, but this resource manages ${this.#asked.contract.displayName} ${id}: set it ` +
      'back, or name the other one in a resource of its own'
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

/** By what the resource owns; where no record of that is kept, by what it stands for. */
function hasAdopted({ status }: ManagedObject, id: string): boolean {
  return (status?.ownership === undefined ? status?.id : status.ownership.id) === id;
}

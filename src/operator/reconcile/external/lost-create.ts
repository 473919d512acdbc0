import type { OddItem } from '../../../common/odd-item.ts';
import { keySinceOf } from '../connections/connection.ts';
import type { ReconcileContext } from '../context.ts';
import { unhandledReconcileAt } from '../occasion.ts';
import { mayBeTwoKeys } from '../ownership/key-mark.ts';
import { ownershipOf } from '../ownership/ownership.ts';
import { annotation, type CreateIntent, formatIntent, intentOf, recordIn } from '../resource/annotations.ts';
import { fingerprint } from '../resource/json.ts';
import type { Facts } from '../resource/memory.ts';
import { isDeleting, type ManagedObject, type ManagedSpec } from '../resource/resource.ts';
import { parseSpec } from '../resource/spec.ts';
import { type Report, report } from '../status/outcome.ts';
import type { AccountObjects, Suspect } from './account-objects.ts';
import { ambiguous, chosenOf, isAmbiguous, mostNamed } from './ambiguity.ts';
import type { Recent } from './cache.ts';
import { doubtOf, doubtOfDeletedMs, doubtRetryMs, goneThenSay, isConfirmed } from './census.ts';
import { mayBeHeldByOthers } from './claims.ts';
import { Contenders } from './contenders.ts';
import type { ExternalContract } from './contract.ts';
import { countIn } from './count.ts';
import { recordCreated, withdraw } from './create.ts';
import { suspect } from './late-twins.ts';
import type { ExternalFlowOptions } from './options.ts';
import { refusalOf, whileSought } from './refused-create.ts';
import {
  isAhead,
  isOlder,
  leftUnfound,
  leftUnread,
  mayBeMade,
  resolveLostCreate,
  type UnresolvedCreate,
  unreadable,
} from './resolution.ts';

/** When what an unanswered create may have made is looked for, after it was lost from sight; for the last time when it must have settled. */
const looksAfterMs = [0, 2_000, 10_000, 30_000];
/** Two lists that are to say the same of something are this far apart. */
const apartMs = 2_000;

/** A create of one resource's external object that was begun and never recorded. */
export class LostCreate<Spec extends ManagedSpec, Observed, Client> {
  readonly #context: ReconcileContext<Client>;
  readonly #contract: ExternalContract<Spec, Observed, Client>;
  readonly #objects: AccountObjects<Observed>;
  readonly #options: ExternalFlowOptions;
  readonly #contenders: Contenders<Spec, Observed, Client>;

  constructor(
    context: ReconcileContext<Client>,
    contract: ExternalContract<Spec, Observed, Client>,
    objects: AccountObjects<Observed>,
    options: ExternalFlowOptions,
  ) {
    this.#context = context;
    this.#contract = contract;
    this.#objects = objects;
    this.#options = options;
    this.#contenders = new Contenders(context, contract, objects);
  }

  /**
   * Learns its fate, before anything else is done for the resource: adopts what it made, or makes sure that it made
   * nothing. Reports while neither is certain. Does nothing for a resource without such a create.
   */
  async resolve(): Promise<Report | undefined> {
    const { resource } = this.#context;
    const { object, uid } = resource;
    const intent = intentOf(object);
    if (intent === undefined) return undefined;
    const made = this.#objects.claims.claimOf(uid);
    // What the status knows is newer than any mark of a create: that one came back with an old manifest.
    if (ownershipOf(object).id !== undefined) await withdraw(resource);
    else if (made !== undefined) await recordCreated(resource, made);
    else return this.#lookUp(intent);
    return undefined;
  }

  async #lookUp(intent: Partial<CreateIntent>): Promise<Report | undefined> {
    const { resource, facts, occasion, peers, call, connection } = this.#context;
    const { startedAt } = occasion;
    const { object, uid } = resource;
    if (occasion.requested) delete facts.refusedCreate;
    const content = intent.content ?? this.#contentOf(object);
    if (typeof content !== 'string') return content;
    const isSentHere = facts.unresolved?.sentAt !== undefined;
    if (!isSentHere && isAhead(intent, connection.serviceTime?.())) return this.#redate({ ...intent, content });
    const unresolved = this.#begun();
    const { since: keySince } = connection;
    const looks = this.#looksAt(startedAt - unresolved.since);
    const known = this.#contenders.unresolved(peers.list(), content);
    const backTo = Math.min(...known.map((each) => each.notBefore));
    const since = Math.max(unresolved.since + looks.last, this.#askedSince());
    const found = await this.#objects.cache.recent(since, backTo, call);
    // Read after the list: whoever made what is in it has it on record by now, or its create is unresolved.
    const resources = await this.#options.listResources();
    const latest = resources.find((each) => each.metadata.uid === uid) ?? object;
    if (connection.since !== keySince || this.#contenders.isCreating(content)) return this.#wait(apartMs);
    const mine = this.#contenders.asUnresolved(object);
    const unclaimed = this.#contenders.unclaimed(resources, found.items(), content);
    const mayBeHeld = new Set(mayBeHeldByOthers(object, resources, peers));
    if (!this.#isKeptTooLong() && unclaimed.some(({ id }) => mayBeHeld.has(id))) return this.#wait(apartMs);

    const others = this.#contenders.unresolved(resources, content);
    const resolution = resolveLostCreate(mine, others, unclaimed);
    const claimed = this.#contenders.claimed(resources);
    const { answered = '' } = intent;
    const isNobodys = answered !== '' && !claimed.has(answered) && !mayBeHeld.has(answered);
    const isFree = isNobodys && (looks.nextInMs !== undefined || !(await this.#isGone(answered, found)));
    const ids = [...('ids' in resolution ? resolution.ids : []), ...(isFree ? [answered] : [])];
    const chosen = chosenOf(latest, ids);
    if (chosen !== undefined) return this.#choose(latest, chosen);
    if (resolution.kind === 'adopt') {
      const { id } = resolution;
      // Of another installation's create the answer may be on its way.
      const mayBeAnothers = others.some(({ isForeign }) => isForeign === true);
      const isEarly = mayBeAnothers || unclaimed.some((each) => each.id === id && isOlder(each, mine));
      if (looks.nextInMs === undefined || !isEarly) return this.#adopt(id, found);
    }
    if (resolution.kind === 'ambiguous') {
      delete unresolved.lookedAt;
      return ambiguous(resource.object, resolution.ids);
    }
    const odd = found.odd.filter(({ id }) => id === undefined || !claimed.has(id));
    const unread = mayBeMade(mine, odd);
    const [first] = unread;
    if (first !== undefined && !this.#isKeptTooLong()) throw unreadable(this.#contract.displayName, first);
    const firstLook = unresolved.lookedAt;
    if (resolution.kind === 'none') unresolved.lookedAt ??= startedAt;
    else delete unresolved.lookedAt;
    if (looks.nextInMs !== undefined) return this.#wait(looks.nextInMs);
    if (isFree && resolution.kind === 'none' && this.#isMadeSince(mine, answered, found))
      return this.#adopt(answered, found);
    if (ids.length > 0) return ambiguous(resource.object, ids);
    return this.#madeNothing(firstLook, { content, backTo, unread });
  }

  /** What is known of it from now on; with another key that lists say nothing of what this one opens. */
  #begun(): NonNullable<Facts['unresolved']> {
    const { resource, facts, occasion, connection } = this.#context;
    const keySince = keySinceOf(connection);
    facts.unresolved ??= { since: occasion.startedAt };
    if (facts.unresolved.since < keySince) {
      delete facts.refusedCreate;
      facts.unresolved = { ...facts.unresolved, since: keySince, confirmed: false };
    }
    const { unresolved } = facts;
    if (isDeleting(resource.object)) unresolved.goesSince ??= occasion.startedAt;
    if ((unresolved.lookedAt ?? keySince) < keySince) delete unresolved.lookedAt;
    if (isConfirmed(this.#context, unresolved.since)) unresolved.confirmed = true;
    return unresolved;
  }

  /** What is to go takes with it what it may have made, where that is known. */
  async #choose(latest: ManagedObject, id: string): Promise<undefined> {
    const { resource } = this.#context;
    resource.take(latest);
    await (isDeleting(latest) ? recordCreated(resource, id) : withdraw(resource));
  }

  /**
   * Once two looks have shown nothing, after it must have settled.
   *
   * @param lost with what may be it, and cannot be read: of what is kept too long alone
   */
  async #madeNothing(
    firstLook: number | undefined,
    { unread, ...lost }: Pick<Suspect, 'content' | 'backTo'> & { readonly unread: readonly OddItem[] },
  ): Promise<Report | undefined> {
    const { resource, facts, occasion } = this.#context;
    const { startedAt } = occasion;
    // Before the second look, which begins anew: else the status would say now the one, now the other.
    const doubt = await this.#doubt();
    if (doubt !== undefined && !this.#isKeptTooLong()) return this.#doubted(doubt);
    if (firstLook === undefined || startedAt - firstLook < apartMs) return this.#wait(apartMs);
    const changed = facts.unresolved?.confirmed === true ? await this.#changedKey() : undefined;
    if (changed !== undefined) return changed;
    // Before nothing tells of it any more.
    this.#tellOfLeft(unread, doubt !== undefined);
    await withdraw(resource);
    delete facts.unresolved;
    suspect(this.#objects, resource.uid, lost, startedAt);
    const refusal = this.#refusal();
    return refusal === undefined ? undefined : report('Rejected', refusal);
  }

  /** A person's word is for the key that is on record by now: he may have put that right in the same moment. */
  async #changedKey(): Promise<Report | undefined> {
    const { connection, call } = this.#context;
    const { since } = connection;
    const isRead = (await connection.readKey?.(call)) !== false;
    if (connection.since !== since) return this.#wait(apartMs);
    return isRead || this.#isKeptTooLong() ? undefined : this.#wait(doubtRetryMs);
  }

  /** Of our clock, and of now: as one that proves nothing of what is older, also when the service's clock has caught up. */
  async #redate(intent: Partial<CreateIntent>): Promise<Report> {
    const { resource, time } = this.#context;
    const redated = { ...intent, at: new Date(time.wall()).toISOString(), clock: 'own' } as const;
    await resource.annotate({ [annotation.createIntent]: formatIntent(redated) });
    return this.#wait(0);
  }

  /**
   * An account in which nothing else is found either is not searched for the last time: it may be another one. So may that of a
   * key with which the create was not sent, unless something is there that was there with another one too.
   */
  async #doubt(): Promise<string | undefined> {
    const { facts, connection, call } = this.#context;
    const { census } = this.#options;
    if (facts.unresolved?.confirmed === true) return undefined;
    const isOfAnotherKey = this.#isOfAnotherKey();
    if (isOfAnotherKey) {
      await this.#objects.cache.sweep(keySinceOf(connection), call);
      countIn(this.#options, this.#context, this.#contract, this.#objects);
    }
    // No restore keeps the mark of a create and loses the statuses.
    const tally = census.proven(connection);
    if (isOfAnotherKey && tally.before.vouching === 0)
      return `it may have been sent with another API key: is this the right one? If it is ${goneThenSay}`;
    return doubtOf(tally);
  }

  /** By what this process knows; of what an earlier one sent by its record. */
  #isOfAnotherKey(): boolean {
    const { resource, facts, connection } = this.#context;
    const sentAt = facts.unresolved?.sentAt;
    if (sentAt !== undefined) return connection.hadAnotherKey?.(sentAt) === true;
    return mayBeTwoKeys(recordIn(resource.object, annotation.keyMark), connection.keyMark);
  }

  #doubted(doubt: string): Report {
    delete this.#context.facts.unresolved?.lookedAt;
    const message = `what an unanswered create of the ${this.#contract.displayName} may have made is not found, but ${doubt}`;
    return report('Unreachable', message, { retry: { kind: 'backoff', atLeastMs: doubtRetryMs } });
  }

  /** A resource that is to go does not wait for ever for what cannot be known. */
  #isKeptTooLong(): boolean {
    const { facts, time } = this.#context;
    const { goesSince } = facts.unresolved ?? {};
    return goesSince !== undefined && time.now() - goesSince >= doubtOfDeletedMs;
  }

  /** Of what a resource was kept for, and is kept for no longer. */
  #tellOfLeft(unread: readonly OddItem[], isInDoubt: boolean): void {
    const { displayName } = this.#contract;
    const { journal } = this.#context;
    for (const item of unread.slice(0, mostNamed)) journal.event('Orphaned', leftUnread(displayName, item));
    if (isInDoubt) journal.event('Orphaned', leftUnfound(displayName));
  }

  /** From when on a list is news. */
  #askedSince(): number {
    const { facts, occasion, resource } = this.#context;
    const { startedAt } = occasion;
    // What a list could not tell is asked neither of the same one again, nor of one that others read just after it, which a late
    // retry would find as old. Those that fail together still share most lists.
    const failedAt = facts.failedAt === undefined ? Number.NEGATIVE_INFINITY : (facts.failedAt + startedAt) / 2;
    const secondAt = (facts.unresolved?.lookedAt ?? Number.POSITIVE_INFINITY) + apartMs;
    const since = secondAt <= startedAt ? Math.max(failedAt, secondAt) : failedAt;
    if (!isAmbiguous(resource.object)) return since;
    return Math.max(since, unhandledReconcileAt(resource.object) === undefined ? occasion.lastDue() : startedAt);
  }

  async #adopt(id: string, { items, startedAt }: Recent<Observed>): Promise<undefined> {
    const { resource, facts, occasion, journal } = this.#context;
    // Else the whole account would be read to see it once more.
    const adopted = items().find((each) => this.#contract.identity(each).id === id);
    if (adopted !== undefined) this.#objects.cache.record(adopted, startedAt);
    this.#objects.claims.claim(resource.uid, id);
    facts.made = { id, at: occasion.startedAt };
    delete facts.refusedCreate;
    await recordCreated(resource, id);
    const { displayName } = this.#contract;
    journal.event('Adopted', `adopted ${displayName} ${id}, made by a create whose answer was lost`);
  }

  /** No list shows it, and it is denied alone. */
  async #isGone(id: string, { items, odd }: Recent<Observed>): Promise<boolean> {
    const { connection, call } = this.#context;
    const isListed =
      odd.some((each) => each.id === id) || items().some((each) => this.#contract.identity(each).id === id);
    return !isListed && (await this.#contract.get(connection.client, id, call)) === undefined;
  }

  /** Though it is otherwise than asked. */
  #isMadeSince(mine: UnresolvedCreate, id: string, { items }: Recent<Observed>): boolean {
    const identity = items()
      .map((each) => this.#contract.identity(each))
      .find((each) => each.id === id);
    return identity !== undefined && !isOlder(identity, mine);
  }

  /** Only a delete meets a spec that cannot be read. */
  #contentOf(object: ManagedObject): string | Report {
    const parsed = parseSpec(this.#contract.spec, object);
    if ('spec' in parsed) return fingerprint(this.#contract.content(parsed.spec));
    return { ...parsed.report, message: `deleting: ${parsed.report.message}` };
  }

  /** When the last look was due, after it was lost from sight, and in how long the next one is. */
  #looksAt(passedMs: number): { readonly last: number; readonly nextInMs: number | undefined } {
    const { createSettleMs } = this.#options;
    const looks = [...looksAfterMs.filter((ms) => ms < createSettleMs), createSettleMs];
    const next = looks.find((ms) => ms > passedMs);
    return {
      last: looks.findLast((ms) => ms <= passedMs) ?? 0,
      nextInMs: next === undefined ? undefined : next - passedMs,
    };
  }

  /** Of what the spec asks for: as if it had been refused in the service's own words, but for what it may have made. */
  #refusal(): string | undefined {
    const { resource, facts } = this.#context;
    return isDeleting(resource.object) ? undefined : refusalOf(facts, this.#contentOf(resource.object));
  }

  #wait(ms: number): Report {
    const retry = { kind: 'after', ms } as const;
    const refusal = this.#refusal();
    if (refusal !== undefined) return whileSought(refusal, retry);
    const reason = isDeleting(this.#context.resource.object) ? 'Deleting' : 'Creating';
    const message = `looking for what an unanswered create of the ${this.#contract.displayName} may have made`;
    return report(reason, message, { retry });
  }
}

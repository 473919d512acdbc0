import { annotation } from '../annotations.ts';
import type { ReconcileContext } from '../context.ts';
import { type Facts, witnessesApartMs } from '../memory.ts';
import { freshSince, unhandledReconcileAt } from '../occasion.ts';
import { type Report, report } from '../outcome.ts';
import { accountKeyOf, ownedIDOf, ownershipOf } from '../ownership.ts';
import { conditionOf, isDeleting } from '../resource.ts';
import type { Census, Count } from './census.ts';
import type { ExternalContract } from './contract.ts';
import type { PendingCreates } from './pending-creates.ts';

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

export interface PresenceOptions {
  /** Of all kinds. */
  readonly census: Census;
  readonly createSettleMs: number;
}

type Contract<Observed, Client> = Pick<
  // biome-ignore lint/suspicious/noExplicitAny: of whatever spec
  ExternalContract<any, Observed, Client>,
  'displayName' | 'get' | 'identity'
>;

type Context<Client> = Omit<ReconcileContext<Client>, 'journal'>;

/** Whether one resource's external object is there, and how certain it is that it is not. */
export class Presence<Observed, Client> {
  readonly #context: Context<Client>;
  readonly #contract: Contract<Observed, Client>;
  readonly #pending: PendingCreates<Observed>;
  readonly #options: PresenceOptions;

  constructor(
    context: Context<Client>,
    contract: Contract<Observed, Client>,
    pending: PendingCreates<Observed>,
    options: PresenceOptions,
  ) {
    this.#context = context;
    this.#contract = contract;
    this.#pending = pending;
    this.#options = options;
  }

  /**
   * What is out there under this id; undefined when it certainly does not exist. Something a person asked for is answered
   * by a fresh get; everything else by the account-wide sweep, as long as it began after the resource was last due for a
   * check and after its last failed call.
   */
  async observe(id: string): Promise<Observed | undefined> {
    const { facts, occasion, call, connection, time } = this.#context;
    const { cache } = this.#pending;
    const since = freshSince(this.#context);
    let observed = cache.known(id, since);
    if (observed === undefined && !occasion.requested) {
      await cache.sweep(since, call);
      observed = cache.known(id, since);
      // A list would show that it came: alone it is looked for now and then.
      const wasAbsent = facts.absent?.id === id && time.now() - facts.absent.lookedAt < rareMs;
      if (observed === undefined && wasAbsent) return undefined;
    }
    if (observed === undefined) {
      const sentAt = time.now();
      observed = await this.#contract.get(connection.client, id, call);
      if (observed !== undefined) cache.record(observed, sentAt);
      else facts.absent = absentSince(facts, id, sentAt);
    }
    facts.observed = true;
    if (observed !== undefined) {
      delete facts.absent;
      // What was listed before the key was put in force says nothing of what that one opens.
      const isSeen = cache.known(id, connection.since ?? Number.NEGATIVE_INFINITY) !== undefined;
      if (isSeen) facts.seen = { id, at: time.now() };
    }
    return observed;
  }

  /**
   * A second witness for what an answer said is not there: a list that begins some time later and ends without it. Reports
   * while there is none, and while so much of the account is gone that something else must be wrong.
   */
  async confirmGone(id: string): Promise<Report | undefined> {
    const { resource, facts, time, call } = this.#context;
    const { displayName } = this.#contract;
    const { cache } = this.#pending;
    const now = time.now();
    const { at, lookedAt, ...absent } = absentSince(facts, id, facts.absent?.id === id ? facts.absent.lookedAt : now);
    const confirmed = absent.confirmed || isConfirmed(this.#context);
    facts.absent = { id, at, lookedAt, confirmed };
    const apartMs = this.#apartMs(id);
    const isDeleted = isDeleting(resource.object);
    const reason = isDeleted ? 'Deleting' : 'Creating';
    const waitMs = at + apartMs - now;
    if (waitMs > 0) {
      this.#count();
      const message = `${displayName} ${id} was not found: making sure that it is gone`;
      return report(reason, message, { retry: { kind: 'after', ms: waitMs } });
    }
    await cache.sweep(at + apartMs, call);
    if (cache.known(id, at) !== undefined) {
      delete facts.absent;
      const message = `${displayName} ${id} is in a list and is not found alone: looking again`;
      return report(reason, message, { retry: { kind: 'backoff' } });
    }
    const doubt = confirmed ? undefined : this.#doubt();
    if (doubt === undefined) return undefined;
    // What is to go has nothing left to lose but the record of it: it is not kept for ever.
    if (isDeleted && time.now() - at >= doubtOfDeletedMs) return undefined;
    return report('Unreachable', doubt, { retry: { kind: 'after', ms: doubtRetryMs } });
  }

  /** How far apart two witnesses are: far, when nobody has seen the object with the key in force, which may be a wrong one. */
  #apartMs(id: string): number {
    const { facts, connection } = this.#context;
    const { seen } = facts;
    const isKnown = seen?.id === id && seen.at > (connection.since ?? Number.NEGATIVE_INFINITY);
    return isKnown ? witnessesApartMs : Math.max(witnessesApartMs, this.#options.createSettleMs);
  }

  /** Why nothing is concluded of what is missing from the account: most of it is. */
  #doubt(): string | undefined {
    const { present, missing } = this.#count();
    if (missing < fewestInDoubt || missing < present) return undefined;
    return (
      `${missing} of ${present + missing} objects that this operator made in the account vanished at once: is it the right ` +
      `key and address? If they are gone, set the annotation ${annotation.reconcileAt} on this resource or its account`
    );
  }

  /** What resources own in the account, of all kinds that were counted. */
  #count(): Count {
    const { resource, peers, connection, time } = this.#context;
    const { census } = this.#options;
    const account = accountKeyOf(resource.object);
    const { cache, counted } = this.#pending;
    const now = time.now();
    // All that vanish at once ask at once.
    if (counted.sweptAt === cache.sweptAt && now - counted.at < countedForMs) return census.last(connection);
    Object.assign(counted, { sweptAt: cache.sweptAt, at: now });
    const there = new Set(cache.current().map((each) => this.#contract.identity(each).id));
    for (const odd of cache.odd()) if (odd.id !== undefined) there.add(odd.id);
    const [proven, said] = [
      { present: 0, missing: 0 },
      { present: 0, missing: 0 },
    ];
    for (const other of peers.list()) {
      const id = ownedIDOf(other);
      if (id === undefined || accountKeyOf(other) !== account) continue;
      const { deletedID, made } = peers.factsOf(other);
      // Neither says anything of the key: what is deleted is gone, and what was made with it is where it leads.
      if (deletedID === id || (made?.id === id && made.at >= (connection.since ?? 0))) continue;
      const count = ownershipOf(other).id === id ? proven : said;
      if (there.has(id)) count.present += 1;
      else count.missing += 1;
    }
    // Whoever may write a resource may say that it made what never was: that counts where a restore left no proof.
    const isProven = proven.present + proven.missing > 0;
    return census.add(connection, this.#contract, isProven ? proven : said);
  }

  /** What vanishes again and again is created later and later. */
  tooSoon(id: string): Report | undefined {
    const { facts, time } = this.#context;
    const { times, at } = facts.recreated ?? { times: 0, at: Number.NEGATIVE_INFINITY };
    const now = time.now();
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
}

function absentSince({ absent }: Facts, id: string, lookedAt: number): NonNullable<Facts['absent']> {
  return absent?.id === id ? { ...absent, lookedAt } : { id, at: lookedAt, lookedAt, confirmed: false };
}

/** A person who was told that too much is missing says that it is. */
function isConfirmed({ resource, facts, connection }: Context<unknown>): boolean {
  const { object } = resource;
  if (conditionOf(object, 'Ready')?.reason === 'Unreachable' && unhandledReconcileAt(object) !== undefined) return true;
  return facts.absent !== undefined && (connection.confirmedAt ?? Number.NEGATIVE_INFINITY) >= facts.absent.at;
}

import { isSameURL } from '../../../common/http/url.ts';
import { keySinceOf } from '../connections/connection.ts';
import type { ReconcileContext } from '../context.ts';
import { freshSince } from '../occasion.ts';
import { mayBeTwoKeys } from '../ownership/key-mark.ts';
import { ownedIDOf, recordedURLOf } from '../ownership/ownership.ts';
import { annotation, recordIn } from '../resource/annotations.ts';
import { type Facts, witnessesApartMs } from '../resource/memory.ts';
import { conditionOf, isDeleting } from '../resource/resource.ts';
import { firstPauseMs, type Report, report } from '../status/outcome.ts';
import type { AccountObjects } from './account-objects.ts';
import { doubtOf, doubtOfDeletedMs, doubtRetryMs, goneThenSay, isConfirmed, type Tally } from './census.ts';
import type { ExternalContract } from './contract.ts';
import { countIn } from './count.ts';
import type { ExternalFlowOptions } from './options.ts';

/** What is not there is asked for by its id no more often, when nobody asks for it. */
const rareMs = 600_000;
/** What a list showed so lately is not looked at once more, for a list of a large account is many requests. */
const latelyMs = 15 * 60_000;
/** For so long a witness is believed that something is gone. */
const freshMs = 30_000;

type Options = Pick<ExternalFlowOptions, 'createSettleMs' | 'census'>;

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
  readonly #objects: AccountObjects<Observed>;
  readonly #options: Options;

  constructor(
    context: Context<Client>,
    contract: Contract<Observed, Client>,
    objects: AccountObjects<Observed>,
    options: Options,
  ) {
    this.#context = context;
    this.#contract = contract;
    this.#objects = objects;
    this.#options = options;
  }

  /**
   * What is out there under this id; undefined when it certainly does not exist. Something a person asked for is answered
   * by a fresh get; everything else by the account-wide sweep, as long as it began after the resource was last due for a
   * check, after its last failed call, after the key was put in force, and after an answer that it is not there: that one
   * is overruled by a get alone. So is a list that shows it otherwise than asked: it may lag behind, or show less.
   */
  async observe(id: string, isAsAsked: (listed: Observed) => boolean = () => true): Promise<Observed | undefined> {
    const { facts, occasion, call, time } = this.#context;
    const { cache } = this.#objects;
    const absent = this.#absent(id);
    const askedAt = time.now();
    const since = Math.max(freshSince(this.#context), this.#keySince, absent?.lookedAt ?? Number.NEGATIVE_INFINITY);
    let observed = cache.known(id, since);
    if (observed === undefined && !occasion.requested) {
      await cache.sweep(since, call);
      observed = cache.known(id, since);
      // A list would show that it came: alone it is looked for now and then.
      if (observed === undefined && absent !== undefined && time.now() - absent.lookedAt < rareMs) return undefined;
    }
    const isOtherwise = observed !== undefined && cache.isListed(id) && !isAsAsked(observed);
    if (observed === undefined || absent !== undefined || isOtherwise) observed = await this.look(id);
    facts.observed = true;
    if (observed !== undefined) {
      delete facts.absent;
      if (cache.isListed(id)) this.#isShown(id);
      const first = facts.seen?.id === id ? facts.seen : { id, firstAt: time.now(), keyMark: this.#keyMarkOf(id) };
      // Not when it was answered: with another key in force by then, it was seen with the one before.
      facts.seen = { ...first, at: askedAt };
    }
    return observed;
  }

  /** By a get, whatever else is known of it. */
  async look(id: string): Promise<Observed | undefined> {
    const { facts, call, connection, time } = this.#context;
    const sentAt = time.now();
    const observed = await this.#contract.get(connection.client, id, call);
    if (observed !== undefined) {
      this.#objects.cache.record(observed, sentAt);
      this.#isShown(id);
    } else facts.absent = { ...(this.#absent(id) ?? { id, at: sentAt }), lookedAt: sentAt };
    return observed;
  }

  /** By more than the answer to its create. */
  #isShown(id: string): void {
    const { made } = this.#context.facts;
    if (made?.id === id) delete made.unshown;
  }

  #keyMarkOf(id: string): string | undefined {
    const { object } = this.#context.resource;
    return ownedIDOf(object) === id ? recordIn(object, annotation.keyMark) : undefined;
  }

  /**
   * A second witness for what an answer said is not there: a list that begins some time later and ends without it, and a second
   * answer where lists need not show it yet. Reports while there is none, and while so much of the account is gone that
   * something else must be wrong. A person's word is for the key that is on record some time later: he may have put that right
   * in the same moment.
   */
  async confirmGone(id: string): Promise<Report | undefined> {
    const { resource, facts, time, call, connection } = this.#context;
    const { displayName } = this.#contract;
    const { cache } = this.#objects;
    const now = time.now();
    const absent = this.#absent(id) ?? { id, at: now, lookedAt: now };
    const { at } = absent;
    const saidAt = this.#saidAt(absent);
    const secondAt = Math.max(this.#secondAt(id, at), (saidAt ?? Number.NEGATIVE_INFINITY) + witnessesApartMs);
    const isDeleted = isDeleting(resource.object);
    const reason = isDeleted ? 'Deleting' : 'Creating';
    const waitMs = secondAt - now;
    const unsure = `${displayName} ${id} was not found: making sure that it is gone`;
    if (waitMs > 0) {
      const retry = { kind: 'after', ms: waitMs } as const;
      const doubt = saidAt === undefined ? this.#doubt(id) : undefined;
      // What an earlier process asked stays asked.
      const isAsked = doubt !== undefined && conditionOf(resource.object, 'Ready')?.message === doubt;
      return isAsked ? report('Unreachable', doubt, { retry }) : report(reason, unsure, { retry });
    }
    await cache.sweep(secondAt, call);
    // Once: while a person is asked, a list would show that it came.
    if (this.#mayBeYoung(id) && absent.lookedAt < at + witnessesApartMs) await this.look(id);
    const isSaid = saidAt !== undefined && (await connection.readKey?.(call)) !== false;
    // Another key came meanwhile: neither witness is of what that one opens.
    if (at < this.#keySince) return report(reason, unsure);
    // What is listed and cannot be read is there all the same.
    const isOdd = cache.odd().some((item) => item.id === id);
    if (isOdd || cache.known(id, at) !== undefined) {
      facts.absent = { ...absent, at: time.now(), ...(saidAt === undefined ? {} : { saidAt }) };
      // If that was the answer to a delete, it is sent again.
      delete facts.deniedDelete;
      const where = isOdd || cache.isListed(id) ? 'in a list and is not found alone' : 'there after all';
      const message = `${displayName} ${id} is ${where}: looking again`;
      return report(reason, message, { retry: { kind: 'backoff' }, pauseMs: firstPauseMs.unsettled });
    }
    if (isSaid) return undefined;
    const doubt = this.#doubt(id);
    if (doubt === undefined) return absent.isDoubted === true ? this.#lookAnew(reason, unsure) : undefined;
    facts.absent = { ...(this.#absent(id) ?? absent), isDoubted: true };
    if (isDeleted && time.now() - at >= doubtOfDeletedMs) return undefined;
    return report('Unreachable', doubt, { retry: { kind: 'after', ms: doubtRetryMs } });
  }

  /** Nothing but a person's word would make it certain that it is gone. */
  isInDoubt(id: string): boolean {
    const absent = this.#absent(id);
    return absent?.isDoubted === true && absent.saidAt === undefined;
  }

  /** What was found gone a while ago, as before a pause, may be there by now: reports where one get says so. */
  async isBack(id: string): Promise<Report | undefined> {
    const { lookedAt = Number.NEGATIVE_INFINITY } = this.#absent(id) ?? {};
    const { sweptAt = Number.NEGATIVE_INFINITY } = this.#objects.cache;
    if (this.#context.time.now() - Math.max(lookedAt, sweptAt) < freshMs) return undefined;
    if ((await this.look(id)) === undefined) return undefined;
    return this.#lookAnew('Creating', `${this.#contract.displayName} ${id} is there after all: looking again`);
  }

  /** What was said of it is no witness any more: it is there, or the others are that were denied too. */
  #lookAnew(reason: 'Deleting' | 'Creating', message: string): Report {
    delete this.#context.facts.absent;
    return report(reason, message);
  }

  /** What an answer said with the key in force: with another one it said nothing of this account. */
  #absent(id: string): Facts['absent'] {
    const { absent } = this.#context.facts;
    return absent?.id === id && absent.at >= this.#keySince ? absent : undefined;
  }

  get #keySince(): number {
    return keySinceOf(this.#context.connection);
  }

  /** From when on there can be a second witness: much later than the first, where the key in force may be a wrong one. */
  #secondAt(id: string, absentAt: number): number {
    const isSure = this.#seenWithKey(id) !== undefined || this.#isOfThisKey(id);
    return absentAt + (isSure ? witnessesApartMs : Math.max(witnessesApartMs, this.#options.createSettleMs));
  }

  /** So young that lists may not show it yet, for all that this process has seen of it. */
  #mayBeYoung(id: string): boolean {
    const firstAt = this.#seenWithKey(id)?.firstAt ?? Number.POSITIVE_INFINITY;
    return firstAt + this.#options.createSettleMs > this.#context.time.now();
  }

  #seenWithKey(id: string): Facts['seen'] {
    const { seen } = this.#context.facts;
    return seen?.id === id && seen.at > this.#keySince ? seen : undefined;
  }

  /** By its record it was there with the key in force. */
  #isOfThisKey(id: string): boolean {
    const { keyMark } = this.#context.connection;
    return keyMark !== undefined && keyMark === this.#keyMarkOf(id);
  }

  /** Why nothing is concluded of what is missing from the account: an item may be it, or most of the account is missing. */
  #doubt(id: string): string | undefined {
    const nameless = this.#objects.cache.odd().find((item) => item.id === undefined);
    if (nameless !== undefined) {
      const { displayName } = this.#contract;
      return (
        `${displayName} ${id} was not found, but an item of the list has no id and may be it (${nameless.problem}): ` +
        `if it is ${goneThenSay}`
      );
    }
    const tally = this.#count();
    return this.#keyDoubt(id, tally) ?? doubtOf(tally);
  }

  /** Of what is owned and not made again, why it may not be gone; undefined once a person said that it is. */
  doubtOfImport(id: string): string | undefined {
    const absent = this.#absent(id);
    if (absent !== undefined && this.#saidAt(absent) !== undefined) return undefined;
    return this.#keyDoubt(id, this.#count());
  }

  /** When it was known that a person says that it is gone; undefined: none does. */
  #saidAt(absent: NonNullable<Facts['absent']>): number | undefined {
    const { facts, time } = this.#context;
    const saidAt = absent.saidAt ?? (isConfirmed(this.#context, absent.at) ? time.now() : undefined);
    facts.absent = saidAt === undefined ? absent : { ...absent, saidAt };
    return saidAt;
  }

  /**
   * What was there with the key before this one: a key of another account, which opens nothing that was there with others, is
   * likelier than that it went just then.
   */
  #keyDoubt(id: string, { before }: Tally): string | undefined {
    if (before.vouching > 0 || this.#former() !== undefined) return undefined;
    const what = `${this.#contract.displayName} ${id} was there`;
    const elsewhere = this.#formerAddress(id);
    if (elsewhere !== undefined && before.present === 0)
      return `${what} at ${elsewhere}, and is not found here: is it the right address? If it is ${goneThenSay}`;
    if (!this.#isOfAnotherKey(id)) return undefined;
    return `${what} with the API key before this one, and is not found with it: is it the right key? If it is ${goneThenSay}`;
  }

  /**
   * It was never there with the key in force, but with others: of what this process never saw, its record says so. Where that says
   * that it was, it was, though the account was away since, and nothing is known of what key it had then.
   */
  #isOfAnotherKey(id: string): boolean {
    const { resource, connection } = this.#context;
    if (this.#isOfThisKey(id)) return false;
    const had = this.#had(id);
    if (had.length > 0) return had.every((at) => connection.hadAnotherKey?.(at) === true);
    return mayBeTwoKeys(recordIn(resource.object, annotation.keyMark), connection.keyMark);
  }

  /** Where it was, by its record, of what this process never saw: its address is another one, and is taken over. */
  #formerAddress(id: string): string | undefined {
    const { resource, connection } = this.#context;
    const recorded = recordedURLOf(resource.object);
    if (this.#had(id).length > 0 || recorded === undefined || connection.url === undefined) return undefined;
    return isSameURL(recorded, connection.url) ? undefined : recorded;
  }

  /** When this process asked for it, of those times that it was there: when it was made, and last. */
  #had(id: string): readonly number[] {
    const { seen, made } = this.#context.facts;
    return [made, seen].flatMap((each) => (each?.id === id ? each.at : []));
  }

  /**
   * By a list with the key in force, where there is something to be found again that was taken for gone: a create may have
   * waited since, as for an hour's pause.
   */
  async lookForFormer(): Promise<string | undefined> {
    const { facts, call } = this.#context;
    if (facts.former !== undefined) await this.#objects.cache.sweep(this.#lookedSince, call);
    return this.#former();
  }

  /** There is something to be found again, and nobody has looked for it lately. */
  isLookOld(): boolean {
    const { sweptAt = Number.NEGATIVE_INFINITY } = this.#objects.cache;
    return this.#context.facts.former !== undefined && sweptAt < this.#lookedSince;
  }

  get #lookedSince(): number {
    return Math.max(this.#keySince, this.#context.time.now() - latelyMs);
  }

  /** What was taken for gone with another key, and is there with this one; nothing that another resource has taken since. */
  #former(): string | undefined {
    const { resource, facts, peers } = this.#context;
    const isFree = (id: string) => peers.claimants(id).every(({ metadata: { uid } }) => uid === resource.uid);
    return facts.former?.find((id) => this.#objects.cache.known(id, this.#keySince) !== undefined && isFree(id));
  }

  /** What resources own in the account, of all kinds of which something was missed. */
  #count(): Tally {
    return countIn(this.#options, this.#context, this.#contract, this.#objects);
  }
}

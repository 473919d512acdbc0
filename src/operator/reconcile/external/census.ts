import type { Connection } from '../connections/connection.ts';
import type { ReconcileContext } from '../context.ts';
import { unhandledReconcileAt } from '../occasion.ts';
import { annotation } from '../resource/annotations.ts';
import { conditionOf, type ManagedObject } from '../resource/resource.ts';

/** Of the objects that resources own in an account. */
export interface Count {
  readonly present: number;
  readonly missing: number;
  /** Of those that are there, those that were there with another key than the one in force: both open one account. */
  readonly vouching: number;
}

/**
 * Of what this process did not make with the key in force, by the statuses of its resources, and by their annotations alone;
 * and of what it did.
 */
export interface Counts {
  readonly proven: Count;
  readonly said: Count;
  readonly made: Count;
}

/** What was there before this process tells of key and address; what it made was made wherever they lead. */
export interface Tally {
  readonly before: Count;
  readonly made: Count;
}

/**
 * How many of the objects that resources own are there, by the last list of each kind. When most of an account is gone at
 * once, it is more likely another account: nothing is concluded from that.
 */
export class Census {
  readonly #counts = new WeakMap<Connection<unknown>, Map<object, () => Counts>>();

  /**
   * From now on the kind, by whatever stands for it, counts too, as it then is; answers the count of all. Whoever may write
   * a resource may say that it made what never was: that counts where a restore left no proof of anything.
   */
  add(connection: Connection<unknown>, kind: object, count: () => Counts): Tally {
    const byKind = this.#counts.get(connection) ?? new Map<object, () => Counts>();
    this.#counts.set(connection, byKind.set(kind, count));
    const { proven, said, made } = this.#of(connection);
    return { before: proven.present + proven.missing > 0 ? proven : said, made };
  }

  /** Of all kinds of which something was missed, of what is proven alone. */
  proven(connection: Connection<unknown>): Tally {
    const { proven, made } = this.#of(connection);
    return { before: proven, made };
  }

  #of(connection: Connection<unknown>): Counts {
    const all = [...(this.#counts.get(connection)?.values() ?? [])].map((each) => each());
    const [proven, said] = [sum(all.map((each) => each.proven)), sum(all.map((each) => each.said))];
    return { proven, said, made: sum(all.map(({ made }) => made)) };
  }
}

function sum(counts: readonly Count[]): Count {
  return {
    present: counts.reduce((total, { present }) => total + present, 0),
    missing: counts.reduce((total, { missing }) => total + missing, 0),
    vouching: counts.reduce((total, { vouching }) => total + vouching, 0),
  };
}

/** So many must be missing, and no fewer than are there, for it to be in doubt that they are gone. */
const fewestInDoubt = {
  /** Of what was there before. */
  before: 2,
  /** With what this process made: two of that may go at once. */
  all: 3,
};
export const doubtRetryMs = 30_000;
/** What is to go has nothing left to lose but the record of it: it is not kept for ever. */
export const doubtOfDeletedMs = 120_000;
/** What a person is asked to say of what may be gone. */
export const goneThenSay = `gone, set the annotation ${annotation.reconcileAt} on this resource or its account`;

/** Why nothing is concluded of what is not found in an account. */
export function doubtOf({ before, made }: Tally): string | undefined {
  const counts = [
    { ...sum([before, made]), fewest: fewestInDoubt.all },
    { ...before, fewest: fewestInDoubt.before },
  ];
  const doubted = counts.find(({ present, missing, fewest }) => missing >= fewest && missing >= present);
  if (doubted === undefined) return undefined;
  const { present, missing } = doubted;
  return `${missing} of ${present + missing} ${manyGone} If they are ${goneThenSay}`;
}

/** Kinds of which nothing is missing are not counted. */
const manyGone =
  'objects of the kinds in question that this operator made in the account vanished at once: is it the right key and address?';

/** What its condition says of the whole account, as the account's own says it: that so much of it is missing. */
export function doubtIn(object: ManagedObject): string | undefined {
  const { message = '' } = conditionOf(object, 'Ready') ?? {};
  const at = message.indexOf(manyGone);
  if (at < 0) return undefined;
  const [count = ''] = /\d+ of \d+ $/.exec(message.slice(0, at)) ?? [];
  return `${count}${manyGone} If they are gone, set the annotation ${annotation.reconcileAt} on this account`;
}

/** Its condition asks a person to say so. */
export function isAskedWhetherGone(object: ManagedObject): boolean {
  return conditionOf(object, 'Ready')?.message.includes(goneThenSay) === true;
}

/** A person who was told since then that too much is missing, and not of any other trouble, says that it is. */
export function isConfirmed(
  { resource, connection }: Pick<ReconcileContext<unknown>, 'resource' | 'connection'>,
  since: number,
): boolean {
  const { object } = resource;
  if (isAskedWhetherGone(object) && unhandledReconcileAt(object) !== undefined) return true;
  return (connection.confirmedAt ?? Number.NEGATIVE_INFINITY) >= since;
}

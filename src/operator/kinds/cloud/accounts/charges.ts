import type { Ledger } from '../../../cloud/ledger.ts';
import type { UseRecord } from './use-record.ts';

/** What one budget has been charged with. */
interface Charged {
  /** Names on record. */
  readonly names: Set<string>;
  /** Names that all has been charged for which is related to them. */
  readonly askedFor: Set<string>;
}

/** Charges budgets with what one record says that earlier processes sent: each once, with each name on record. */
export class Charges {
  readonly #record: Pick<UseRecord, 'pastOf'>;
  /** Names by what they have in common: the record may have thousands. */
  readonly #groups = new Map<string, string[]>();
  readonly #charged = new WeakMap<Ledger, Charged>();

  constructor(record: Pick<UseRecord, 'pastOf'>, names: readonly string[]) {
    this.#record = record;
    for (const name of names) {
      for (const group of groupsOf(name)) this.#groups.set(group, [...(this.#groups.get(group) ?? []), name]);
    }
  }

  /** With all that was sent with the same key, or for the same account. */
  charge(ledger: Ledger, name: string): void {
    const { names, askedFor } = this.#of(ledger);
    if (askedFor.has(name)) return;
    askedFor.add(name);
    for (const each of [name, ...groupsOf(name).flatMap((group) => this.#groups.get(group) ?? [])]) {
      if (names.has(each)) continue;
      names.add(each);
      for (const { count, endedAt } of this.#record.pastOf(each) ?? []) ledger.carry(accountIn(each), count, endedAt);
    }
  }

  /** One budget begins with what the other has been charged with. */
  inherit(from: Ledger, to: Ledger): void {
    const charged = this.#charged.get(from);
    if (charged !== undefined) this.#charged.set(to, { names: new Set(charged.names), askedFor: new Set() });
  }

  #of(ledger: Ledger): Charged {
    const known = this.#charged.get(ledger) ?? { names: new Set(), askedFor: new Set() };
    this.#charged.set(ledger, known);
    return known;
  }
}

export function accountIn(name: string): string {
  return name.slice(0, name.indexOf(' '));
}

/** The account at its address, and the key there. */
function groupsOf(name: string): readonly string[] {
  const [account, origin, mark] = name.split(' ');
  return [`account ${account} ${origin}`, ...(mark === undefined ? [] : [`key ${origin} ${mark}`])];
}

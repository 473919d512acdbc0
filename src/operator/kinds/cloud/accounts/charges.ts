import type { Ledger } from '../../../cloud/ledger.ts';
import { accountIn, groupsOf, isStranger, secretOfMarkIn } from './use-name.ts';
import { freeShareOf, type Inheritance } from './use-state.ts';

/** What one budget has been charged with. */
interface Charged {
  /** Names on record, each with the process that sent. */
  readonly sent: Set<string>;
  /** Names that all has been charged for which is related to them, as the record was at the last look. */
  readonly askedFor: Set<string>;
  look: number;
  /** Free shares: by who they are of, and of which process. */
  readonly free: Map<string, number>;
}

/** As the record was at a look: others may have written since the one before. */
export interface Look extends Inheritance {
  readonly look: number;
}

/** How much is free. */
export interface Limits {
  readonly ofKey: number;
  readonly ofAccount: number;
}

/** Charges budgets with what one record says that earlier processes sent: each once, with what each of them sent by each name. */
export class Charges {
  readonly #charged = new WeakMap<Ledger, Charged>();
  /** Names by what they have in common: the record may have thousands. */
  #groups: ReadonlyMap<string, readonly string[]> = new Map();
  /** Of the marks of their keys. */
  #secrets: ReadonlySet<string> = new Set();
  #look: number | undefined;

  /** With all that was sent with the same key, or for the same account, and with what was free to send. */
  charge(ledger: Ledger, name: string, record: Look, limits: Limits): void {
    const charged = this.#of(ledger, record);
    this.#chargeFree(ledger, name, record, limits);
    if (charged.askedFor.has(name)) return;
    charged.askedFor.add(name);
    for (const each of [name, ...this.#related(name), ...this.#strangers(name, record)])
      this.#chargeSent(ledger, each, record);
  }

  /** One budget begins with what the other has been charged with. */
  inherit(from: Ledger, to: Ledger): void {
    const charged = this.#charged.get(from);
    if (charged === undefined) return;
    const { sent, free, look } = charged;
    this.#charged.set(to, { sent: new Set(sent), free: new Map(free), askedFor: new Set(), look });
  }

  #related(name: string): readonly string[] {
    return groupsOf(name).flatMap((group) => this.#groups.get(group) ?? []);
  }

  /** Those may have the same key: rather all wait a minute than that one key is used twice. */
  #strangers(name: string, { named }: Look): readonly string[] {
    const others = this.#secrets.size - Number(this.#secrets.has(secretOfMarkIn(name) ?? ''));
    if (others === 0) return [];
    return [...named.keys()].filter((each) => isStranger(each, name));
  }

  #chargeSent(ledger: Ledger, name: string, { named }: Look): void {
    const { sent } = this.#known(ledger);
    const news = (named.get(name)?.past ?? []).filter(({ by }) => !sent.has(`${name} ${by}`));
    for (const { count, endedAt, by } of news) {
      sent.add(`${name} ${by}`);
      ledger.carry(accountIn(name), count, endedAt);
    }
  }

  /** The share of a key once, whoever of its accounts had it; and each account with what it may have had of that. */
  #chargeFree(ledger: Ledger, name: string, { starts }: Look, { ofKey, ofAccount }: Limits): void {
    const { free } = this.#known(ledger);
    const account = accountIn(name);
    for (const [index, { endedAt, by }] of starts.entries()) {
      // Of what has no author each is another's.
      const writer = by === '' ? `${index}` : by;
      const charge = (scope: 'credential' | 'account', limit: number) => {
        const id = scope === 'account' ? `${writer} ${account}` : writer;
        const more = freeShareOf(limit) - (free.get(id) ?? 0);
        if (more <= 0) return;
        free.set(id, freeShareOf(limit));
        ledger.carry(account, more, endedAt, { scope });
      };
      charge('credential', ofKey);
      charge('account', ofAccount);
    }
  }

  #of(ledger: Ledger, record: Look): Charged {
    if (this.#look !== record.look) {
      this.#look = record.look;
      this.#groups = groupsIn(record);
      this.#secrets = new Set([...record.named.keys()].flatMap((each) => secretOfMarkIn(each) ?? []));
    }
    const charged = this.#known(ledger);
    if (charged.look !== record.look) charged.askedFor.clear();
    charged.look = record.look;
    return charged;
  }

  #known(ledger: Ledger): Charged {
    const known = this.#charged.get(ledger) ?? { sent: new Set(), askedFor: new Set(), free: new Map(), look: 0 };
    this.#charged.set(ledger, known);
    return known;
  }
}

function groupsIn({ named }: Look): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const name of named.keys()) {
    for (const group of groupsOf(name)) {
      const names = groups.get(group) ?? [];
      groups.set(group, names);
      names.push(name);
    }
  }
  return groups;
}

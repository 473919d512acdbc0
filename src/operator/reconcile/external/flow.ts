import { intentOf } from '../annotations.ts';
import { claimOf, externalIDOf, winnerOver } from '../claims.ts';
import type { Turn } from '../context.ts';
import { type Flow, isKept } from '../flow.ts';
import { type Outcome, report } from '../outcome.ts';
import { unlessRefused } from '../refusals.ts';
import type { ManagedObject, ManagedSpec } from '../resource.ts';
import { parseSpec } from '../spec.ts';
import type { IdentifiedOptions, IdentifiedTurn } from './context.ts';
import type { Account, ExternalKind } from './contract.ts';
import { ensure } from './ensure.ts';
import { Ledger } from './pending-creates.ts';
import { remove } from './remove.ts';

/** The flow of kinds whose external id the service assigns: crash-safe create, adoption, shared sweeps. */
export class IdentifiedFlow<Spec extends ManagedSpec, Observed, Client> implements Flow<Client> {
  readonly #kind: ExternalKind<Spec, Observed, Client>;
  readonly #options: IdentifiedOptions;
  /** By the key of the account, for as long as it is the same one. */
  readonly #ledgers = new Map<string, { readonly account: Account<Client>; readonly ledger: Ledger<Observed> }>();

  constructor(kind: ExternalKind<Spec, Observed, Client>, options: IdentifiedOptions) {
    this.#kind = kind;
    this.#options = options;
  }

  get noun(): string {
    return this.#kind.noun;
  }

  claims(object: ManagedObject): readonly string[] {
    return claimOf(object);
  }

  async ensure(turn: Turn<Client>): Promise<Outcome> {
    const rival = this.#rivalOf(turn);
    if (rival !== undefined) return report('Conflict', this.#conflict(rival));
    const parsed = parseSpec(this.#kind.spec, turn.object);
    if ('report' in parsed) return parsed.report;
    const generation = `generation ${turn.object.metadata.generation}`;
    return unlessRefused(turn, generation, () => ensure(this.#identified(turn), parsed.spec));
  }

  leavesNothing(object: ManagedObject): boolean {
    return isKept(object) || (externalIDOf(object) === undefined && intentOf(object) === undefined);
  }

  /** What an older resource holds is that one's to delete. */
  async remove(turn: Turn<Client>): Promise<Outcome> {
    if (this.#rivalOf(turn) === undefined) return remove(this.#identified(turn));
    await turn.writer.removeFinalizer(turn.object);
    return { kind: 'finished' };
  }

  leftBehind(object: ManagedObject): string {
    const id = externalIDOf(object);
    return id === undefined ? `what an unanswered create of the ${this.noun} may have made` : `${this.noun} ${id}`;
  }

  forget(object: ManagedObject): void {
    for (const { ledger } of this.#ledgers.values()) ledger.unclaim(object.metadata.uid ?? '');
  }

  close(): void {
    for (const { ledger } of this.#ledgers.values()) ledger.observations.close();
  }

  #rivalOf({ object, cache }: Turn<Client>): ManagedObject | undefined {
    return winnerOver(
      object,
      claimOf(object).flatMap((claim) => cache.claimants(claim)),
    );
  }

  #conflict(rival: ManagedObject): string {
    const { namespace, name } = rival.metadata;
    return `the ${this.noun} is managed by ${rival.kind} ${namespace}/${name}, which is older: remove one of the two`;
  }

  #identified(turn: Turn<Client>): IdentifiedTurn<Spec, Observed, Client> {
    return { ...turn, ...this.#options, kind: this.#kind, ledger: this.#ledgerOf(turn) };
  }

  #ledgerOf({ account, clock }: Turn<Client>): Ledger<Observed> {
    const known = this.#ledgers.get(account.key);
    if (known?.account === account) return known.ledger;
    const kind = this.#kind;
    const ledger = new Ledger<Observed>({
      list: (call) => kind.list(account.client, call),
      idOf: (observed) => kind.identity(observed).id,
      now: () => clock.now(),
    });
    this.#ledgers.set(account.key, { account, ledger });
    return ledger;
  }
}

import type { ReconcileResult } from '../controller/controller.ts';
import { announce } from './announce.ts';
import { claimOf, winnerOver } from './claims.ts';
import { ensure } from './ensure.ts';
import type { Account } from './external.ts';
import type { ManagedObject, ManagedSpec } from './fields.ts';
import { Ledger } from './ledger.ts';
import { type Outcome, type Report, rejectedRetryMs, report, reportFailure } from './outcome.ts';
import { isForceOrphan, leavesNothing, letGo, orphanNote, remove } from './remove.ts';
import { settle } from './settle.ts';
import { isAsked, isDeleting, isDrift, isPaused, priorityOf, type Tools, type Turn } from './turn.ts';
import { hasFinalizer } from './writer.ts';

/** Reconciles every resource of one kind whose external id the service assigns; design section 3. Knows no kind. */
export class Reconciler<Spec extends ManagedSpec, Observed, Client> {
  readonly #tools: Tools<Spec, Observed, Client>;
  readonly #ledgers = new Map<Account<Client>, Ledger<Observed>>();

  constructor(tools: Tools<Spec, Observed, Client>) {
    this.#tools = tools;
  }

  /** Brings the resource under `key` one step closer to what it asks for. Aborting `signal` ends only waiting. */
  async reconcile(key: string, reconcileID: string, signal: AbortSignal): Promise<ReconcileResult> {
    const object = this.#tools.cache.get(key);
    if (object === undefined) return { kind: 'done' };
    const { namespace, name } = object.metadata;
    const log = this.#tools.log.child({ kind: object.kind, namespace, name, reconcileID });
    const tools = { ...this.#tools, log };
    const outcome = await this.#attempt(tools, object, signal).catch(reportFailure<Observed>);
    // What was given up because the process ends says nothing about the resource.
    if (signal.aborted && outcome.kind === 'reported' && outcome.reason !== 'Available') return { kind: 'done' };
    this.#remember(object, outcome);
    return settle(tools, key, object, outcome);
  }

  /** The resource is gone from Kubernetes: nothing of it need be remembered. */
  forget(object: ManagedObject): void {
    const uid = object.metadata.uid ?? '';
    this.#tools.memory.forget(uid);
    for (const ledger of this.#ledgers.values()) ledger.unclaim(uid);
  }

  async #attempt(
    tools: Tools<Spec, Observed, Client>,
    object: ManagedObject,
    signal: AbortSignal,
  ): Promise<Outcome<Observed>> {
    if (isDeleting(object) && !hasFinalizer(object)) return { kind: 'finished' };
    if (isPaused(object))
      return report('Paused', 'no call is made while the annotation edge-operator.dev/paused is "true"');
    const rival = winnerOver(
      object,
      claimOf(object).flatMap((claim) => tools.cache.claimants(claim)),
    );
    if (isDeleting(object)) return this.#delete(tools, object, rival !== undefined, signal);
    if (rival !== undefined) return conflict(tools.kind.noun, rival);
    return this.#refused(object) ?? this.#ensure(this.#turn(tools, object, signal));
  }

  async #delete(
    tools: Tools<Spec, Observed, Client>,
    object: ManagedObject,
    contested: boolean,
    signal: AbortSignal,
  ): Promise<Outcome<Observed>> {
    if (contested || leavesNothing(object)) return letGo(tools, object);
    if (isForceOrphan(object)) {
      announce({ ...tools, object }, 'Orphaned', orphanNote(tools.kind.noun, object));
      return letGo(tools, object);
    }
    try {
      return await remove(this.#turn(tools, object, signal));
    } catch (error) {
      const failure = reportFailure<Observed>(error);
      return { ...failure, message: `deleting: ${failure.message}` };
    }
  }

  async #ensure(turn: Turn<Spec, Observed, Client>): Promise<Outcome<Observed>> {
    const parsed = turn.kind.spec.safeParse(turn.object.spec);
    if (parsed.success) return ensure(turn, parsed.data);
    const problems = parsed.error.issues.map((issue) => `spec.${issue.path.join('.')}: ${issue.message}`);
    return report('Rejected', problems.join('; '));
  }

  /** A spec that was refused is not sent again before its time, whatever else wakes the resource. */
  #refused(object: ManagedObject): Report<Observed> | undefined {
    const rejected = this.#factsOf(object).rejected;
    if (rejected === undefined || !this.#stillRefused(object) || isAsked(object)) return undefined;
    return report('Rejected', rejected.message, {
      retry: { kind: 'after', ms: rejected.until - this.#tools.clock.now() },
    });
  }

  #stillRefused(object: ManagedObject): boolean {
    const rejected = this.#factsOf(object).rejected;
    return rejected?.generation === object.metadata.generation && this.#tools.clock.now() < (rejected?.until ?? 0);
  }

  #remember(object: ManagedObject, outcome: Outcome<Observed>): void {
    if (outcome.kind !== 'reported') return;
    const facts = this.#factsOf(object);
    const now = this.#tools.clock.now();
    const generation = object.metadata.generation ?? 0;
    if (outcome.reason === 'Available') facts.realizedGeneration = generation;
    if (outcome.retry.kind === 'backoff') facts.failedAt = now;
    if (outcome.reason !== 'Rejected') delete facts.rejected;
    else if (!this.#stillRefused(object))
      facts.rejected = { generation, until: now + rejectedRetryMs, message: outcome.message };
  }

  #turn(
    tools: Tools<Spec, Observed, Client>,
    object: ManagedObject,
    signal: AbortSignal,
  ): Turn<Spec, Observed, Client> {
    const account = tools.accountOf(object);
    return {
      ...tools,
      object,
      uid: object.metadata.uid ?? '',
      account,
      ledger: this.#ledgerOf(account),
      call: { priority: priorityOf(object, this.#factsOf(object)), signal },
      startedAt: tools.clock.now(),
      asked: isAsked(object),
      drift: isDrift(object, this.#factsOf(object)),
    };
  }

  #factsOf(object: ManagedObject) {
    return this.#tools.memory.of(object.metadata.uid ?? '');
  }

  #ledgerOf(account: Account<Client>): Ledger<Observed> {
    const known = this.#ledgers.get(account);
    if (known !== undefined) return known;
    const { kind, clock } = this.#tools;
    const ledger = new Ledger<Observed>({
      list: (call) => kind.list(account.client, call),
      idOf: (observed) => kind.identity(observed).id,
      now: () => clock.now(),
    });
    this.#ledgers.set(account, ledger);
    return ledger;
  }
}

function conflict(noun: string, rival: ManagedObject): Report<never> {
  const { namespace, name } = rival.metadata;
  const message = `the ${noun} is managed by ${rival.kind} ${namespace}/${name}, which is older: remove one of the two`;
  return report('Conflict', message);
}

import type { Away } from '../../../src/common/call.ts';
import { silentLog } from '../../../src/common/log.ts';
import type { Priority } from '../../../src/common/priority.ts';
import { Limiter } from '../../../src/operator/cloud/limiter.ts';
import {
  Controller,
  type ReconcileRequest,
  type ReconcileResult,
} from '../../../src/operator/controller/controller.ts';
import { WorkQueue } from '../../../src/operator/controller/queue.ts';
import { Sharing } from '../../../src/operator/controller/sharing.ts';
import { SimProcess } from '../core/process.ts';
import type { Chance } from '../core/random.ts';
import type { Scheduler } from '../core/scheduler.ts';
import type { ModelAccount, ModelOptions } from './model.ts';
import type { ModelLeases } from './model-leases.ts';

/** As the operator's defaults. */
const [retryMs, concurrency, mostInLane] = [2_000, 4, 64];
const pageSize = 100;
/** What is spent is slept in pieces of that: a reconcile that takes less than a millisecond needs none of its own. */
const pieceMs = 10;

export interface ModelReplicaOptions extends Omit<ModelOptions, 'accounts'> {
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  readonly accounts: readonly ModelAccount[];
  readonly leases: ModelLeases;
  /** A change is in place, which waited since then. */
  readonly onChanged: (account: ModelAccount, since: number) => void;
}

/** When the list of an account began that is known, and one that is under way. */
interface Sweep {
  at: number;
  running: Promise<void> | undefined;
}

/** One process of the operator: takes shards, and reconciles what is in them. */
export class ModelReplica {
  readonly name: string;
  /** Of its processor. */
  spentMs = 0;
  readonly #options: ModelReplicaOptions;
  readonly #process: SimProcess;
  readonly #queue: WorkQueue;
  readonly #controller: Controller;
  readonly #sharing: Sharing;
  readonly #held = new Set<number>();
  readonly #sweeps = new Map<ModelAccount, Sweep>();
  #busyUntil = 0;

  constructor(name: string, options: ModelReplicaOptions) {
    const { scheduler, chance, leases } = options;
    this.name = name;
    this.#options = options;
    this.#process = new SimProcess(name, scheduler, chance.of(name));
    const { monotonic, random, uuid } = this.#process;
    const lanes = { of: (key: string) => key.split('/')[0] ?? '', most: mostInLane };
    this.#queue = new WorkQueue({ monotonic, random, lanes });
    this.#controller = new Controller({
      ...{ name, queue: this.#queue, concurrency, monotonic, random, uuid, log: silentLog },
      shareOf: (key) => this.#shareOf(key),
      reconcile: (request) => this.#reconcile(request),
    });
    this.#sharing = new Sharing({ identity: name, holders: () => leases.holders, monotonic });
  }

  start(): void {
    void this.#controller.run(new AbortController().signal);
    for (let shard = 0; shard < this.#options.shards; shard += 1) this.#look(shard);
  }

  die(): void {
    this.#process.kill();
    for (const shard of this.#held) this.#options.leases.orphan(shard);
    this.#held.clear();
  }

  /** Somebody changed a resource; only who has it cares. */
  changed(account: ModelAccount, resource: number): void {
    if (this.#process.alive && this.#held.has(account.shard))
      this.#controller.supersede(`${account.index}/${resource}`, 'change');
  }

  /** As an elector, at its times. */
  #look(shard: number): void {
    const { leases } = this.#options;
    const holder = leases.holders[shard];
    if (this.#held.has(shard)) this.#renew(shard);
    else if (holder === '' && this.#sharing.mayTake(shard)) this.#take(shard);
    else if (holder !== '' && this.#sharing.wants(shard)) leases.ask(shard, this.name);
    this.#process.after(retryMs * (0.8 + 0.2 * this.#process.random()), () => this.#look(shard));
  }

  #renew(shard: number): void {
    const { leases } = this.#options;
    const wish = leases.hold(shard, this.name);
    if (wish === undefined || !this.#sharing.yields(shard, wish)) return;
    this.#held.delete(shard);
    void this.#controller
      .drain((share) => share.shard === shard)
      .then(() => {
        leases.giveAway(shard);
        this.#sharing.gave(shard);
      });
  }

  #take(shard: number): void {
    const { leases, accounts, requestsPerMinute } = this.#options;
    leases.hold(shard, this.name);
    this.#held.add(shard);
    for (const account of accounts.filter((each) => each.shard === shard)) {
      // What is on record of the last minute.
      const { used } = account.limiter.state('');
      account.limiter = new Limiter({ monotonic: this.#process.monotonic, requestsPerMinute });
      account.limiter.ledger.carry('', used, this.#now);
      this.#sweeps.set(account, { at: Number.NEGATIVE_INFINITY, running: undefined });
      for (const resource of account.checkedAt.keys())
        this.#queue.add(`${account.index}/${resource}`, account.changedAt.has(resource) ? 'change' : 'first');
    }
  }

  #shareOf(key: string) {
    const { account } = this.#parsed(key);
    return this.#held.has(account.shard) ? { shard: account.shard, connection: String(account.index) } : undefined;
  }

  async #reconcile({ key, signal, away }: ReconcileRequest): Promise<ReconcileResult> {
    const { resyncMs, costMs, onChanged } = this.#options;
    const { account, resource } = this.#parsed(key);
    const since = account.changedAt.get(resource);
    if (since !== undefined) {
      await this.#spend(costMs.change);
      // What is there, and what is to be there.
      for (let calls = 0; calls < 2; calls += 1) await this.#call(account, 'change', away, signal);
      account.changedAt.delete(resource);
      account.checkedAt[resource] = this.#now;
      onChanged(account, since);
    } else {
      await this.#spend(costMs.check);
      const due = Math.floor(this.#now / resyncMs) * resyncMs;
      const sweep = this.#sweeps.get(account) as Sweep;
      if (sweep.at < due) await away(() => this.#sweep(account, sweep));
      account.checkedAt[resource] = sweep.at;
    }
    return { kind: 'after', ms: resyncMs - (this.#now % resyncMs), priority: 'resync' };
  }

  /** One list for all that are due. */
  #sweep(account: ModelAccount, sweep: Sweep): Promise<void> {
    sweep.running ??= this.#list(account, sweep).finally(() => {
      sweep.running = undefined;
    });
    return sweep.running;
  }

  async #list(account: ModelAccount, sweep: Sweep): Promise<void> {
    const began = this.#now;
    const priority = sweep.at === Number.NEGATIVE_INFINITY ? 'first' : 'resync';
    for (let page = 0; page * pageSize < account.checkedAt.length; page += 1) await this.#call(account, priority);
    sweep.at = began;
  }

  async #call(account: ModelAccount, priority: Priority, away?: Away, signal?: AbortSignal): Promise<void> {
    const send = async () => {
      const slot = await account.limiter.acquire({ priority, signal });
      await this.#process.monotonic.sleep(this.#options.latencyMs);
      slot.release();
    };
    await (away === undefined ? send() : away(send));
  }

  /** Its processor does one thing after the other. */
  async #spend(ms: number): Promise<void> {
    this.spentMs += ms;
    this.#busyUntil = Math.max(this.#busyUntil, this.#now) + ms;
    const aheadMs = this.#busyUntil - this.#now;
    if (aheadMs >= pieceMs) await this.#process.monotonic.sleep(aheadMs);
  }

  #parsed(key: string) {
    const [account = 0, resource = 0] = key.split('/').map(Number);
    return { account: this.#options.accounts[account] as ModelAccount, resource };
  }

  /** Virtual time; all began at 0. */
  get #now(): number {
    return this.#options.scheduler.now;
  }
}

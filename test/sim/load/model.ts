import { Limiter } from '../../../src/operator/cloud/limiter.ts';
import { Chance } from '../core/random.ts';
import { Scheduler } from '../core/scheduler.ts';
import { ModelLeases } from './model-leases.ts';
import { ModelReplica } from './model-replica.ts';

const [second, minute] = [1_000, 60_000];

export interface ModelOptions {
  readonly seed: number;
  readonly resources: number;
  readonly accounts: number;
  /** Of each account. */
  readonly requestsPerMinute: number;
  /** By people, of each account. */
  readonly changesPerMinute: number;
  readonly resyncMs: number;
  readonly replicas: number;
  readonly shards: number;
  /** Before one replica dies, and after. */
  readonly minutes: readonly [before: number, after: number];
  /** Of one request to the cloud. */
  readonly latencyMs: number;
  /** Of one processor: for what somebody changed, and for a check for drift. */
  readonly costMs: { readonly change: number; readonly check: number };
}

/** Of one account; its resources are alike. */
export interface ModelAccount {
  readonly index: number;
  readonly shard: number;
  /** Of who has it. */
  limiter: Limiter;
  /** By index in the account: when it was last looked at, and since when a change waits. */
  readonly checkedAt: Float64Array;
  readonly changedAt: Map<number, number>;
}

/** In milliseconds, each sorted. */
export interface ModelResult {
  /** From a change to its end: before the death, of accounts that a living replica has, and of those of the dead one. */
  readonly latencies: Readonly<Record<'calm' | 'others' | 'orphans', readonly number[]>>;
  /** How long ago resources were looked at: before the death, and after it. */
  readonly ages: Readonly<Record<'calm' | 'after', readonly number[]>>;
  /** How long shards of the dead replica had nobody. */
  readonly gaps: readonly number[];
  /** Share of the processors that was used. */
  readonly busy: number;
}

/** So often so many resources are asked for their age. */
const [sampleEveryMs, samples] = [20 * second, 1_000];

/**
 * The operator at a size that no machine here holds: the product's own queue, controller, limiter and sharing-out, in
 * virtual time, with resources that are numbers. What a reconcile costs a processor and the cloud is given.
 */
export async function runModel(options: ModelOptions): Promise<ModelResult> {
  const scheduler = new Scheduler();
  const chance = new Chance('model', options.seed);
  const accounts = accountsOf(options, scheduler);
  const leases = new ModelLeases(options.shards, scheduler);
  const latencies: Record<'calm' | 'others' | 'orphans', number[]> = { calm: [], others: [], orphans: [] };
  const [beforeMs, afterMs] = options.minutes.map((count) => count * minute) as [number, number];
  // All begins in the middle: what is there was looked at at some time of the last interval.
  const warmMs = options.resyncMs + 5 * second;
  const [diesAt, endsAt] = [warmMs + beforeMs, warmMs + beforeMs + afterMs];
  let orphans: ReadonlySet<number> = new Set();
  const onChanged = (account: ModelAccount, since: number) => {
    const now = scheduler.now;
    if (now < warmMs) return;
    const sort = now < diesAt ? 'calm' : orphans.has(account.shard) ? 'orphans' : 'others';
    latencies[sort].push(now - since);
  };
  const replicas = Array.from(
    { length: options.replicas },
    (_, index) => new ModelReplica(`replica-${index}`, { ...options, scheduler, chance, accounts, leases, onChanged }),
  );
  for (const replica of replicas) replica.start();
  changes(options, { scheduler, chance: chance.of('people'), accounts, replicas });
  const calm = await agesUntil(diesAt, { from: warmMs, scheduler, accounts, chance: chance.of('calm') });
  const [dead] = replicas;
  orphans = new Set(leases.heldBy('replica-0'));
  dead?.die();
  const after = await agesUntil(endsAt, { from: diesAt, scheduler, accounts, chance: chance.of('after') });
  return {
    latencies: { calm: sorted(latencies.calm), others: sorted(latencies.others), orphans: sorted(latencies.orphans) },
    ages: { calm, after },
    gaps: sorted(leases.gaps),
    busy: replicas.reduce((sum, { spentMs }) => sum + spentMs, 0) / (scheduler.now * replicas.length),
  };
}

function accountsOf(
  { accounts, resources, requestsPerMinute, shards }: ModelOptions,
  scheduler: Scheduler,
): readonly ModelAccount[] {
  return Array.from({ length: accounts }, (_, index) => ({
    index,
    shard: index % shards,
    limiter: new Limiter({ monotonic: { ...timeless, now: () => scheduler.now }, requestsPerMinute }),
    checkedAt: new Float64Array(Math.floor(resources / accounts)),
    changedAt: new Map<number, number>(),
  }));
}

const timeless = { sleep: () => Promise.resolve(), timeout: () => new AbortController().signal };

interface People {
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  readonly accounts: readonly ModelAccount[];
  readonly replicas: readonly ModelReplica[];
}

/** At random moments, anything; for as long as the model runs. */
function changes(options: ModelOptions, { scheduler, chance, accounts, replicas }: People): void {
  const meanMs = minute / (options.changesPerMinute * accounts.length);
  const next = () =>
    scheduler.after(-Math.log(1 - chance.next()) * meanMs, () => {
      const account = accounts[chance.int(0, accounts.length - 1)] as ModelAccount;
      const resource = chance.int(0, account.checkedAt.length - 1);
      if (!account.changedAt.has(resource)) account.changedAt.set(resource, scheduler.now);
      for (const replica of replicas) replica.changed(account, resource);
      next();
    });
  next();
}

interface Sampled extends Pick<People, 'scheduler' | 'accounts' | 'chance'> {
  readonly from: number;
}

/** Lets time pass, and asks resources from time to time. */
async function agesUntil(end: number, { from, scheduler, accounts, chance }: Sampled): Promise<readonly number[]> {
  const ages: number[] = [];
  await scheduler.run(from);
  while (scheduler.now < end) {
    await scheduler.run(Math.min(end, scheduler.now + sampleEveryMs));
    for (let sample = 0; sample < samples; sample += 1) {
      const { checkedAt } = accounts[chance.int(0, accounts.length - 1)] as ModelAccount;
      ages.push(scheduler.now - (checkedAt[chance.int(0, checkedAt.length - 1)] ?? 0));
    }
  }
  return sorted(ages);
}

function sorted(values: readonly number[]): readonly number[] {
  return values.toSorted((a, b) => a - b);
}

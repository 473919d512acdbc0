import { type Log, silentLog } from '../../../../common/log.ts';
import type { ManualClock } from '../../../controller/manual-clock.fixture.ts';
import { Budgets, type BudgetUser } from './budgets.ts';
import type { Stored, UseStore } from './use-store.ts';

/** A record in memory, with the clock of who keeps it. */
export class MemoryStore implements UseStore {
  readonly time: ManualClock;
  stored: Stored = { texts: [], writtenAt: undefined };
  /** How far clocks are ahead. */
  ahead = { keepers: 0, writers: 0 };
  writes = 0;
  /** It may be read, and not written. */
  isReadOnly = false;
  /** What the next calls fail with. */
  readonly errors: Error[] = [];
  #seen: Stored = this.stored;

  constructor(time: ManualClock) {
    this.time = time;
  }

  async read(): Promise<Stored> {
    this.#fail();
    this.#seen = this.stored;
    return this.stored;
  }

  async write(text: string): Promise<Stored | undefined> {
    this.#fail();
    if (this.isReadOnly) throw new Error('forbidden');
    if (this.#seen !== this.stored) return undefined;
    this.writes += 1;
    const { keepers, writers } = this.ahead;
    const now = this.time.now();
    this.stored = { texts: [text], writtenAt: { keepers: now + keepers, writers: now + writers } };
    this.#seen = this.stored;
    return this.stored;
  }

  lastsMs(error: unknown): number | undefined {
    const { message } = error as Error;
    if (message === 'no such namespace') return 0;
    return message === 'forbidden' ? 60_000 : undefined;
  }

  /** As another process sees it. */
  reopened(): MemoryStore {
    const other = new MemoryStore(this.time);
    other.stored = this.stored;
    return other;
  }

  #fail(): void {
    const error = this.errors.shift();
    if (error !== undefined) throw error;
  }
}

let processes = 0;

function uuid(): string {
  processes += 1;
  return `p${processes}`;
}

/** One process with some accounts; `sent` has the time of each of its requests. */
export function start(
  time: ManualClock,
  store: MemoryStore,
  limits: Readonly<Record<string, number>>,
  {
    log = silentLog,
    keyOf = (account: string) => `key-of-${account}`,
  }: { readonly log?: Log; readonly keyOf?: (account: string) => string } = {},
) {
  const budgets = new Budgets(
    { monotonic: time, requestsPerMinute: 120 },
    { monotonic: time, random: () => 1, uuid, store: () => store, shardOf: () => 0, log },
  );
  const users = Object.entries(limits).map(([account, requestsPerMinute]): BudgetUser => {
    const user = { account, url: 'https://api.test', apiKey: () => keyOf(account), requestsPerMinute };
    return { ...user, isDefault: account === 'default', isShared: account === 'default' };
  });
  for (const user of users) budgets.join(user);
  const sent: number[] = [];
  let isAlive = true;
  const ask = (count: number, account = users[0]?.account) => {
    const user = users.find((each) => each.account === account) as BudgetUser;
    for (let i = 0; i < count; i += 1)
      void budgets
        .of(user)
        .limiter.acquire({ priority: 'change', account })
        .then((slot) => {
          if (!isAlive) return;
          sent.push(time.now());
          slot.release();
        });
  };
  void budgets.run(0);
  return {
    ...{ budgets, users },
    sent,
    ask,
    kill: () => {
      isAlive = false;
    },
  };
}

/** What was begun before goes on first. */
export async function pass(time: ManualClock, ms: number): Promise<void> {
  await time.advance(0);
  await time.advance(ms);
}

export function mostInAMinute(times: readonly number[]): number {
  return Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + 60_000).length));
}

/** As the Lease that keeps it: the uid of that is the secret. */
export class SecretStore extends MemoryStore {
  readonly secret = 'uid';

  override reopened(): SecretStore {
    const other = new SecretStore(this.time);
    other.stored = this.stored;
    return other;
  }
}

import { silentLog } from '../../../../common/log.ts';
import { randomFrom } from '../../../cloud/limiter.fixture.ts';
import { ManualClock } from '../../../controller/manual-clock.fixture.ts';
import { Budgets, type BudgetUser } from './budgets.ts';
import type { Stored, UseStore, WrittenAt } from './use-store.ts';

/** Where processes keep their record, one after the other and at once: what an API server would have of the Lease. */
export class Place {
  readonly time: ManualClock;
  uid = 'uid-0';
  /** Undefined when somebody deleted it. */
  text: string | undefined;
  version = 0;
  writes = 0;
  writtenAt: WrittenAt | undefined;
  /** Told when a write arrives. */
  onWrite = () => {};

  constructor(time: ManualClock) {
    this.time = time;
  }

  delete(): void {
    this.text = undefined;
    this.writtenAt = undefined;
    this.version += 1;
    this.uid = `uid-${this.version}`;
  }

  put(text: string): void {
    this.text = text;
    this.writtenAt = { keepers: this.time.now(), writers: this.time.now() };
    this.version += 1;
    this.writes += 1;
  }
}

/** As one process sees the place: it takes a while, and answers may be lost. */
export class View implements UseStore {
  readonly most: number;
  readonly #place: Place;
  #seen = -1;
  secret: string | undefined;
  isDead = false;
  /** How the next calls go. */
  fate: () => 'well' | 'lost' | 'unanswered' = () => 'well';
  latencyMs = 0;

  constructor(place: Place, most = 100_000) {
    this.#place = place;
    this.most = most;
  }

  async read(signal: AbortSignal): Promise<Stored> {
    await this.#way();
    signal.throwIfAborted();
    return this.#look();
  }

  async write(text: string, signal: AbortSignal): Promise<Stored | undefined> {
    const fate = this.fate();
    if (fate === 'lost') throw new Error('lost');
    await this.#way();
    signal.throwIfAborted();
    this.#place.onWrite();
    if (this.isDead) return new Promise(() => {});
    const { version } = this.#place;
    if (version !== this.#seen) {
      await this.#way();
      this.#look();
      return undefined;
    }
    this.#place.put(text);
    if (fate === 'unanswered') throw new Error('unanswered');
    const stored = this.#look();
    await this.#way();
    return stored;
  }

  lastsMs(): undefined {}

  #look(): Stored {
    const { text, writtenAt, version, uid } = this.#place;
    this.#seen = version;
    this.secret = text === undefined ? undefined : uid;
    return { texts: text === undefined ? [] : [text], writtenAt };
  }

  async #way(): Promise<void> {
    if (this.latencyMs > 0) await this.#place.time.sleep(this.latencyMs);
  }
}

let processes = 0;

/** A process with accounts that come and go; `sent` of the world has what each sends, with which key. */
export class Process {
  readonly budgets: Budgets;
  readonly view: View;
  readonly users = new Map<string, BudgetUser>();
  readonly keys = new Map<string, string>();
  readonly #world: World;
  readonly #id: string;
  isAlive = true;

  constructor(world: World, most?: number) {
    this.#world = world;
    this.view = new View(world.place, most);
    processes += 1;
    this.#id = `p${processes}`;
    const [store, uuid] = [() => this.view, () => this.#id];
    this.budgets = new Budgets(
      { monotonic: world.time, requestsPerMinute: world.requestsPerMinute },
      { monotonic: world.time, random: () => 1, uuid, store, shardOf: () => 0, log: silentLog },
    );
  }

  run(): this {
    void this.budgets.run(0);
    return this;
  }

  join(account: string, key: string, requestsPerMinute = 120): void {
    const apiKey = () => this.keys.get(account) ?? '';
    const user = { account, url: 'https://api.test', apiKey, requestsPerMinute, isDefault: false, isShared: false };
    this.keys.set(account, key);
    this.users.set(account, user);
    this.budgets.join(user);
  }

  /** As for the scrape of metrics. */
  look(account: string): void {
    const user = this.users.get(account);
    if (user !== undefined) this.budgets.of(user);
  }

  used(account: string): number {
    const user = this.users.get(account);
    return user === undefined ? Number.NaN : this.budgets.of(user).limiter.state().used;
  }

  leave(account: string): void {
    const user = this.users.get(account);
    if (user !== undefined) this.budgets.leave(user);
    this.users.delete(account);
  }

  ask(account: string, count: number): void {
    const user = this.users.get(account);
    for (let n = 0; n < count && user !== undefined; n += 1) void this.#send(user, account);
  }

  /** As the transport does: the turn of one key is not another one's. */
  async #send(user: BudgetUser, account: string): Promise<void> {
    while (this.isAlive && this.users.get(account) === user) {
      const { limiter } = this.budgets.of(user);
      const slot = await limiter.acquire({ priority: 'change', account });
      const isSent = this.isAlive && !slot.isVoid && this.budgets.of(user).limiter === limiter;
      if (isSent) this.#world.sent.push({ at: this.#world.time.now(), key: user.apiKey() });
      slot.release(isSent);
      if (isSent) return;
    }
  }

  /** What stands there is what it wrote. */
  get hasWritten(): boolean {
    return JSON.parse(this.#world.place.text ?? '{}').by === this.#id;
  }

  kill(): void {
    this.isAlive = false;
    this.view.isDead = true;
  }
}

/** One place, and processes one after the other. */
export class World {
  readonly time = new ManualClock();
  readonly place = new Place(this.time);
  /** What the operator's settings say. */
  requestsPerMinute = 120;
  readonly sent: { readonly at: number; readonly key: string }[] = [];

  process(most?: number): Process {
    return new Process(this, most);
  }

  /** One that runs with these accounts, each with its key. */
  start(keys: Readonly<Record<string, string>>): Process {
    const process = this.process();
    for (const [account, key] of Object.entries(keys)) process.join(account, key);
    process.run();
    return process;
  }

  async pass(ms: number): Promise<void> {
    await this.time.advance(0);
    await this.time.advance(ms);
  }

  /** With the key that was used most. */
  get busiest(): number {
    const counts = this.sent.map(
      ({ at: from, key }) =>
        this.sent.filter((each) => each.key === key && each.at >= from && each.at < from + 60_000).length,
    );
    return Math.max(0, ...counts);
  }
}

export const chance = randomFrom;

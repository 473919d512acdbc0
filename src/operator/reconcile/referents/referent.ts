import { Backoff } from '../../../common/backoff.ts';
import { JoinedSignal } from '../../../common/joined-signal.ts';
import type { Runtime } from '../../../common/runtime.ts';
import { unlessAborted } from '../../../common/unless-aborted.ts';
import { isForbidden } from '../../kube/errors.ts';
import type { ObjectMeta, ResourceType } from '../../kube/types.ts';
import { DependencyError } from '../status/outcome.ts';
import { keptMetadata, mustBeHeldAnew, withFinalizer } from './holders.ts';
import type { Target } from './scope.ts';
import { contentOf, type DataObject, keptValue, mostKeptBytes, sameValue, type Value } from './values.ts';

/** The first look at an object takes no longer than this; then it counts as one that cannot be read. */
const firstReadMs = 10_000;
/** Between two reads of one object, however often it changes. */
const leastPauseMs = 500;

/** Whoever tells of changes is told sooner that it may be read; tenants can name thousands of objects that it may not. */
const deniedPauseMs = 300_000;

/** Those who are told of what they refer to. */
export interface Owner {
  /** What the user of this key refers to was read for the first time (`initial`), or has changed. */
  readonly enqueue: (user: string, initial: boolean) => void;
}

export interface ReferentOptions extends Pick<Runtime, 'monotonic' | 'random'> {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
  /** Reads the object; undefined when there is none. */
  readonly load: (signal: AbortSignal) => Promise<DataObject | undefined>;
}

/**
 * One object that is referred to. Of it only the keys that somebody asks for are kept, and of a long value its digest only.
 * It is read when it was told to have changed, and again and again until that succeeds.
 */
export class Referent implements Target {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
  readonly #options: ReferentOptions;
  readonly #backoff: Backoff;
  readonly #stop = new AbortController();
  /** Keys by user by owner. */
  readonly #users = new Map<Owner, Map<string, Set<string>>>();
  /** Of the keys that were asked for when it was last read. */
  #values = new Map<string, Value>();
  /** That was last read; null before. */
  #version: string | undefined | null = null;
  #metadata: ObjectMeta | undefined;
  #isDenied = false;
  /** Somebody was told that it cannot be read. */
  #hasFailed = false;
  /** How many reads were begun, and which of them was the last that was answered. */
  #begun = 0;
  #answered = 0;
  #attempted = Promise.withResolvers<void>();
  #isReading = false;
  #isDue = false;
  #pause = new AbortController();

  constructor(options: ReferentOptions) {
    this.type = options.type;
    this.namespace = options.namespace;
    this.name = options.name;
    this.#options = options;
    this.#backoff = new Backoff({ minMs: 800, maxMs: 30_000 }, options.random);
  }

  /** Of the object, as it was last read: its finalizers, and whether it is being deleted. */
  get metadata(): ObjectMeta | undefined {
    return this.#metadata;
  }

  /** This process has put the finalizer on, which what was read does not show yet: that it is lost is news from now on. */
  noteHeld(finalizer: string): void {
    this.#metadata = this.#metadata && withFinalizer(this.#metadata, finalizer);
  }

  get isUsed(): boolean {
    return this.#users.size > 0;
  }

  /** A key that was not asked for before is read now. */
  follow(owner: Owner, user: string, key: string): void {
    const users = this.#users.get(owner) ?? new Map<string, Set<string>>();
    this.#users.set(owner, users);
    users.set(user, (users.get(user) ?? new Set()).add(key));
    if (!this.#values.has(key)) this.#read();
  }

  /** The user refers to these keys only. */
  keep(owner: Owner, user: string, keys: ReadonlySet<string>): void {
    this.#users.get(owner)?.set(user, new Set(keys));
  }

  unfollow(owner: Owner, user: string): void {
    const users = this.#users.get(owner);
    users?.delete(user);
    if (users?.size === 0) this.#users.delete(owner);
  }

  changed(version: string | undefined): void {
    if (this.#version !== version) this.#read();
  }

  /** Resolves when all that is asked for was read, is denied, or takes too long. */
  async whenRead(signal?: AbortSignal): Promise<void> {
    if (this.#isKnown()) return;
    using end = new JoinedSignal(this.#stop.signal, this.#options.monotonic.timeout(firstReadMs), signal);
    // What came to be asked for during a look is read by the next one.
    while (!this.#isKnown() && !this.#isDenied && !end.signal.aborted)
      await unlessAborted(this.#attempted.promise, end.signal).catch(() => {});
  }

  /** Reads it now, whatever was told of it; resolves to whether that could be done. */
  async readAnew(signal?: AbortSignal): Promise<boolean> {
    using end = new JoinedSignal(this.#stop.signal, this.#options.monotonic.timeout(firstReadMs), signal);
    const own = this.#begun + 1;
    this.#read();
    while (this.#answered < own && !end.signal.aborted)
      await unlessAborted(this.#attempted.promise, end.signal).catch(() => {});
    return this.#answered >= own && !this.#isDenied;
  }

  /** What is known of the value of a key as it was last read. */
  valueOf(key: string): Value {
    return this.#values.get(key) ?? { kind: 'missing' };
  }

  /** A value that is short, as text. Throws DependencyError, naming what is missing or too long. */
  read(key: string): string {
    const value = this.#keptValue(key);
    if (value.kind === 'text') return value.text;
    throw this.#problem(key, `is ${value.bytes} bytes long; at most ${mostKeptBytes} are taken`);
  }

  /** As `read`, of a value of any length that is taken; a long one is read anew. */
  async readWhole(key: string, signal?: AbortSignal): Promise<string> {
    const value = this.#keptValue(key);
    if (value.kind === 'text') return value.text;
    using end = new JoinedSignal(this.#stop.signal, signal);
    const object = await this.#options.load(end.signal);
    if (object === undefined) throw this.#absent();
    const text = contentOf(object, key);
    const found = keptValue(text);
    if (found.kind === 'refused') throw this.#problem(key, found.problem);
    if (typeof text !== 'string') throw this.#missing(key);
    return text;
  }

  close(): void {
    this.#stop.abort();
  }

  get #id(): string {
    return `${this.type.kind} ${this.namespace}/${this.name}`;
  }

  #keptValue(key: string): Exclude<Value, { readonly kind: 'missing' | 'refused' }> {
    const value = this.#values.get(key);
    if (value === undefined) {
      this.#hasFailed = true;
      if (this.#isDenied) throw new DependencyError(`${this.#id} cannot be read: ${rightsOf(this.type)}`);
      throw new DependencyError(`${this.#id} is not read yet; if it stays so, ${rightsOf(this.type)}`, {
        isPending: true,
      });
    }
    if (this.#version === undefined) throw this.#absent();
    if (value.kind === 'missing') throw this.#missing(key);
    if (value.kind === 'refused') throw this.#problem(key, value.problem);
    return value;
  }

  #absent(): DependencyError {
    return new DependencyError(`${this.#id} does not exist`);
  }

  #missing(key: string): DependencyError {
    return new DependencyError(`${this.#id} has no key ${JSON.stringify(key)}`);
  }

  #problem(key: string, problem: string): DependencyError {
    return new DependencyError(`${this.#id}: the value of ${JSON.stringify(key)} ${problem}`);
  }

  #isKnown(): boolean {
    return this.#version !== null && this.#keys().every((key) => this.#values.has(key));
  }

  #keys(): readonly string[] {
    return [...this.#users.values()].flatMap((users) => [...users.values()].flatMap((keys) => [...keys]));
  }

  /** Now; where that is under way, once more after it. */
  #read(): void {
    this.#isDue = true;
    this.#pause.abort();
    if (!this.#isReading) void this.#readWhileDue();
  }

  async #readWhileDue(): Promise<void> {
    const { monotonic } = this.#options;
    this.#isReading = true;
    while (this.#isDue && !this.#stop.signal.aborted) {
      const pauseMs = await this.#attempt();
      this.#pause = new AbortController();
      // News ends the pause after a failure, not the one that keeps reads apart.
      using end = new JoinedSignal(this.#stop.signal, this.#pause.signal);
      await monotonic.sleep(leastPauseMs, this.#stop.signal).catch(() => {});
      if (pauseMs > leastPauseMs) await monotonic.sleep(pauseMs - leastPauseMs, end.signal).catch(() => {});
    }
    this.#isReading = false;
  }

  /** Resolves to how long to wait before the next. */
  async #attempt(): Promise<number> {
    this.#isDue = false;
    const own = ++this.#begun;
    const keys = new Set(this.#keys());
    try {
      const object = await this.#options.load(this.#stop.signal);
      this.#backoff.forget();
      this.#answered = own;
      this.#take(object, keys);
      return 0;
    } catch (error) {
      if (this.#stop.signal.aborted) return 0;
      this.#isDue = true;
      if (!isForbidden(error)) return this.#backoff.next();
      this.#answered = own;
      this.#deny();
      return deniedPauseMs;
    }
  }

  #deny(): void {
    this.#isDenied = true;
    this.#attempted.resolve();
    this.#attempted = Promise.withResolvers();
  }

  /** @param keys those that were asked for when it was sent for */
  #take(object: DataObject | undefined, keys: ReadonlySet<string>): void {
    const before = this.#values;
    const [wasKnown, hadFailed] = [this.#version !== null, this.#hasFailed];
    const metadataBefore = this.#metadata;
    this.#version = object?.metadata.resourceVersion;
    this.#metadata = object && keptMetadata(object);
    this.#values = new Map(
      [...keys].map((key) => [key, keptValue(object === undefined ? undefined : contentOf(object, key))]),
    );
    [this.#isDenied, this.#hasFailed] = [false, false];
    this.#attempted.resolve();
    this.#attempted = Promise.withResolvers();
    // One that is not there at first is news to nobody.
    if (!wasKnown && object === undefined && !hadFailed) return;
    this.#tell(before, hadFailed, mustBeHeldAnew(metadataBefore, this.#metadata));
  }

  #tell(before: ReadonlyMap<string, Value>, hadFailed: boolean, isOther: boolean): void {
    for (const [owner, users] of [...this.#users]) {
      for (const [user, keys] of [...users]) {
        const news = [...keys].filter((key) => this.#differs(key, before.get(key)));
        const initial = !hadFailed && news.every((key) => !before.has(key));
        if (news.length > 0 || isOther) owner.enqueue(user, initial && !isOther);
      }
    }
  }

  #differs(key: string, before: Value | undefined): boolean {
    const now = this.#values.get(key);
    return now !== undefined && (before === undefined || !sameValue(before, now));
  }
}

/** What to do where the operator is not let. */
function rightsOf({ kind }: ResourceType): string {
  const how = kind === 'Secret' ? ' (rbac.secrets or rbac.secretNames of the chart)' : '';
  return `check that the operator may list and watch it${how}`;
}

import type { Log } from '../../common/log.ts';
import { unlessAborted } from '../../common/unless-aborted.ts';
import { isForbidden, isNothingThere, type KubeError } from '../kube/errors.ts';
import { type KubeObject, keyOf } from '../kube/types.ts';
import { DeferredEvents } from './deferred-events.ts';
import { Reflector, type ReflectorOptions } from './reflector.ts';
import { RepeatedTexts } from './repeated-texts.ts';
import { ObjectStore, type StoreChange } from './store.ts';
import { sameUid, versionOf } from './version.ts';

export interface InformerOptions<T extends KubeObject> extends Omit<ReflectorOptions<T>, 'selection' | 'sink'> {
  /** Without it, all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  /** Applied to everything before it is stored, to keep less of it; must keep metadata. */
  readonly transform?: ((object: T) => T) | undefined;
}

/** `initial`: the object was there before the handler or the informer was. */
export type Change<T extends KubeObject> = StoreChange<T> & { readonly initial: boolean };
export type ChangeHandler<T extends KubeObject> = (change: Change<T>) => void;

export interface HandlerOptions {
  /** Told of our own writes too, as they are answered; for readers of other kinds that depend on this one. Default false. */
  readonly ownWrites?: boolean;
}

interface Registration<T extends KubeObject> extends HandlerOptions {
  readonly handler: ChangeHandler<T>;
}

/** A cache of the objects of one type that follows the server and tells handlers what changes. */
export class Informer<T extends KubeObject> {
  readonly #store = new ObjectStore<T>();
  readonly #deferred = new DeferredEvents();
  readonly #texts = new RepeatedTexts();
  readonly #handlers: Registration<T>[] = [];
  readonly #reflector: Reflector<T>;
  readonly #transform: (object: T) => T;
  readonly #log: Log;
  /** Undefined for all. */
  readonly namespace: string | undefined;
  readonly #synced = Promise.withResolvers<void>();
  readonly #settled = Promise.withResolvers<void>();
  #hasSynced = false;
  #isRefused = false;
  #isMissing = false;

  constructor(options: InformerOptions<T>) {
    const { type, namespace, labelSelector, transform = (object) => object, ...following } = options;
    this.namespace = namespace;
    this.#log = options.log.child({ informer: type.plural, ...(namespace === undefined ? {} : { namespace }) });
    this.#transform = transform;
    this.#reflector = new Reflector<T>({
      ...following,
      type,
      selection: { namespace, labelSelector },
      sink: this.#sink(),
      log: this.#log,
    });
  }

  /** Follows the server until the signal aborts; never rejects. */
  run(signal: AbortSignal): Promise<void> {
    return this.#reflector.run(signal);
  }

  /** The first list is in the cache and handlers have been told of it. */
  get synced(): boolean {
    return this.#hasSynced;
  }

  /** The operator may not read it: what is in the cache, if anything, is as it was. It is tried again all the while. */
  get refused(): boolean {
    return this.#isRefused;
  }

  /** The API server does not serve the type: what is in the cache is as it was. It is tried again all the while. */
  get missing(): boolean {
    return this.#isMissing;
  }

  /** Resolves when it is synced, or refused; rejects with the signal's reason when it aborts first. */
  async whenSettled(signal: AbortSignal): Promise<void> {
    await unlessAborted(this.#settled.promise, signal);
  }

  /** Rejects with the signal's reason when it aborts first. */
  async whenSynced(signal: AbortSignal): Promise<void> {
    await unlessAborted(this.#synced.promise, signal);
  }

  /** @param key `namespace/name`, or `name` of a cluster-scoped object */
  get(key: string): T | undefined {
    return this.#store.get(key);
  }

  list(): readonly T[] {
    return this.#store.list();
  }

  /** Calls the handler for everything cached and then for every change, in order. */
  onChange(handler: ChangeHandler<T>, options: HandlerOptions = {}): void {
    const registration = { handler, ...options };
    this.#handlers.push(registration);
    for (const object of this.#store.list()) this.#notifyOne(registration, { type: 'add', object, initial: true });
  }

  /** Must not throw for any object. */
  addIndex(name: string, valuesOf: (object: T) => readonly string[]): void {
    this.#store.addIndex(name, valuesOf);
  }

  byIndex(name: string, value: string): readonly T[] {
    return this.#store.byIndex(name, value);
  }

  /**
   * Puts the answer to our own write into the cache, so that nobody here reads an older state than we wrote. Handlers are
   * called neither for it nor for its echo by the server (but see `ownWrites`), unless the object has gone by it.
   */
  #assume(object: T): void {
    const change = this.#store.assume(this.#slim(object));
    if (change === undefined) return;
    for (const registration of this.#handlers) {
      if (registration.ownWrites || change.type === 'delete')
        this.#notifyOne(registration, { ...change, initial: false });
    }
  }

  /**
   * Takes what was read of an object by itself: what is newer in it is a change, whether or not the server ever tells of that, and so
   * is that it is not there. Where it is older than what was `known` when it was asked for, the server has gone back in time, and
   * everything is read anew.
   */
  learn(object: T | undefined, known: T): void {
    if (object === undefined) this.#deferred.deliver(keyOf(known), () => this.#lose(known));
    else if (versionOf(object) < versionOf(known)) this.#reflector.listAgain();
    else this.#deferred.deliver(keyOf(object), () => this.#notify(this.#store.upsert(this.#slim(object)), false));
  }

  /** Of what went the watch would have told by now, as a rule: it may be one of another history. */
  #lose(object: T): void {
    const changes = this.#store.remove(object);
    if (changes.length > 0) this.#reflector.doubt();
    this.#notify(changes, false);
  }

  /**
   * Performs a write to the object and assumes its answer, keeping back what the server tells of the object meanwhile:
   * the echo of a write often overtakes the answer to it, and would pass for somebody else's change.
   */
  async write(key: string, perform: () => Promise<T>): Promise<T> {
    const release = this.#deferred.hold(key);
    try {
      const written = await perform();
      const stored = this.get(key);
      // A namesake has taken its place meanwhile: the end of the old one is among what is kept back.
      if (stored !== undefined && !sameUid(stored, written)) release();
      this.#assume(written);
      return written;
    } finally {
      release();
    }
  }

  #sink() {
    const store = this.#store;
    return {
      ask: () => store.ask(),
      slim: (object: T, isListed: boolean) => {
        if (isListed) return store.asStored(this.#slim(object));
        return this.#isKnown(object) ? object : this.#slim(object);
      },
      replace: (objects: readonly T[], version: bigint, floor: bigint) => this.#replace(objects, version, floor),
      alive: () => this.#readable(),
      failed: (error: unknown) => this.#failed(error),
      upsert: (object: T) => this.#deferred.deliver(keyOf(object), () => this.#notify(store.upsert(object), false)),
      remove: (object: T) => this.#deferred.deliver(keyOf(object), () => this.#notify(store.remove(object), false)),
    };
  }

  /** Answers whether it was told here. */
  #failed(error: unknown): boolean {
    this.#isMissing ||= isNothingThere(error);
    return isForbidden(error) && this.#refuse(error);
  }

  /** Told once, however often it is tried: nobody but a person changes it. Answers that it was. */
  #refuse({ message: error }: KubeError): true {
    if (!this.#isRefused)
      this.#log.warn('may not be read; nothing is done there until it may', {
        error,
        hint: 'was the namespace deleted, or its RoleBinding?',
      });
    this.#isRefused = true;
    this.#settled.resolve();
    return true;
  }

  #readable(): void {
    if (this.#isRefused) this.#log.info('may be read again');
    this.#isRefused = false;
    this.#isMissing = false;
  }

  #replace(objects: readonly T[], version: bigint, floor: bigint): void {
    this.#readable();
    this.#deferred.flush();
    const reset = version < floor || this.#store.isContradicted(objects, version);
    if (reset) {
      this.#reflector.doubt();
      this.#log.warn('the API server has gone back in time; taking its word', { resourceVersion: `${version}` });
    }
    this.#notify(this.#store.replace(objects, version, reset), !this.#hasSynced);
    this.#hasSynced = true;
    this.#synced.resolve();
    this.#settled.resolve();
  }

  /** It will not be stored, as what is stored is not older: such is every echo of our own writes. */
  #isKnown(object: T): boolean {
    const stored = this.#store.get(keyOf(object));
    return stored !== undefined && sameUid(stored, object) && versionOf(object) <= versionOf(stored);
  }

  /** Without `managedFields`, which nobody reads here and which are half of an object. */
  #slim(object: T): T {
    return this.#texts.share(withoutManagedFields(this.#transform(object)));
  }

  #notify(changes: readonly StoreChange<T>[], initial: boolean): void {
    for (const change of changes) {
      for (const registration of this.#handlers) this.#notifyOne(registration, { ...change, initial });
    }
  }

  #notifyOne(registration: Registration<T>, change: Change<T>): void {
    try {
      const answer: unknown = registration.handler(change);
      if (answer instanceof Promise) answer.catch((error: unknown) => this.#handlerFailed(error, change));
    } catch (error) {
      this.#handlerFailed(error, change);
    }
  }

  #handlerFailed(error: unknown, change: Change<T>): void {
    const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#log.error('a change handler failed', { key: keyOf(change.object), change: change.type, error: cause });
  }
}

function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (!('managedFields' in object.metadata)) return object;
  const { managedFields: _, ...metadata } = object.metadata as T['metadata'] & { managedFields?: unknown };
  return { ...object, metadata };
}

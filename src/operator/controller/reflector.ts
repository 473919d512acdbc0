import { Backoff, type BackoffOptions } from '../../common/backoff.ts';
import { JoinedSignal } from '../../common/joined-signal.ts';
import type { Log } from '../../common/log.ts';
import type { Runtime } from '../../common/runtime.ts';
import { Trouble } from '../../common/trouble.ts';
import type { KubeClient, Selection, WatchEvent } from '../kube/client.ts';
import { isNothingThere, KubeConnectionError, KubeError, StoodStillError } from '../kube/errors.ts';
import { lateMs } from '../kube/pulse.ts';
import { type KubeObject, keyOf, type ResourceType } from '../kube/types.ts';
import { classify, GoneBackError } from './reflector-errors.ts';

const initialEventsEnd = 'k8s.io/initial-events-end';
const usualBackoff = { minMs: 800, maxMs: 30_000 };
/** A watch that lived this long was a success. */
const healthyWatchMs = 5_000;
const answersAgain = 'watching again';

/** Where a reflector puts what it reads. */
export interface Sink<T extends KubeObject> {
  /** A list is about to be asked for: the newest resourceVersion known by now, whoever brought it. */
  ask(): bigint;
  /**
   * What is kept of an object; applied to everything before it is put here. Undefined where it is of no interest. Of a list
   * all is held until its end.
   */
  slim(object: T, isListed: boolean): T | undefined;
  /**
   * What there is as of `version`.
   * @param floor the newest version known before the question was asked; an up-to-date answer is not older
   */
  replace(objects: readonly T[], version: bigint, floor: bigint): void;
  upsert(object: T): void;
  remove(object: T): void;
  /** The watch has brought something, a bookmark at least. */
  alive(): void;
  /** A watch ended without an error, but too soon: until the next one, after a pause, nothing is told. */
  ended?(): void;
  /** A list or watch failed; `true` when nothing is to be logged of it. */
  failed(error: unknown): boolean;
}

export interface ReflectorOptions<T extends KubeObject> extends Pick<Runtime, 'monotonic' | 'random'> {
  readonly client: KubeClient;
  readonly type: ResourceType;
  readonly selection: Selection;
  readonly sink: Sink<T>;
  readonly log: Log;
  /** Objects in a page of a list; default the client's. */
  readonly pageSize?: number | undefined;
  /** A watch without even a bookmark for this long is dead; default the client's. */
  readonly silenceTimeoutMs?: number | undefined;
  /** Default 0.8 s to 30 s. */
  readonly backoff?: BackoffOptions | undefined;
}

/**
 * Keeps a sink equal to what the server has: a list (streamed as a watch's initial events where the server can, else in
 * pages), then a watch that is resumed where it ended, and another list when that point is too old.
 */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #backoff: Backoff;
  readonly #trouble: Trouble;
  /** Where to resume; undefined when a list is due. */
  #version: string | undefined;
  /** Of the server's history, when the last list was asked for, and the last that was answered. */
  #askedIn = 0;
  #era = 0;
  /** The newest version that the server told of, by whatever: an answer that is up to date is not older. */
  #told = 0n;
  #streamsLists = true;
  /** The last watch told something. */
  #hasBrought = false;
  /** Ends the watch, which is of a history that is no more. */
  #cut = new AbortController();

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#backoff = new Backoff(options.backoff ?? usualBackoff, options.random);
    this.#trouble = new Trouble(options.log, options.monotonic);
  }

  /** Until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const delayMs = await this.#cycle(signal).catch((error: unknown) => this.#failed(error, signal));
      if (delayMs > 0) await this.#rest(delayMs, signal);
    }
  }

  /** The server was found to have gone back in time, of which a watch that was resumed since tells nothing. */
  listAgain(): void {
    this.doubt();
    // It may be found many times before the list that is asked for then has come to its end.
    const isListing = this.#version === undefined && this.#askedIn === this.#options.client.history.era;
    if (!isListing) this.#cut.abort(new GoneBackError());
  }

  /** What was read may be of another history: whoever watches the server reads anew when its watch has ended. */
  doubt(): void {
    this.#options.client.history.doubt(this.#era);
  }

  /** No watch tells of a process that stands still between two: the server may have come back from a backup. */
  async #rest(ms: number, signal: AbortSignal): Promise<void> {
    const { monotonic } = this.#options;
    const startedAt = monotonic.now();
    await monotonic.sleep(ms, signal).catch(() => {});
    if (monotonic.now() - startedAt >= ms + lateMs) this.#version = undefined;
  }

  /** A list if one is due and a watch until it ends; resolves to how long to wait before the next. */
  async #cycle(signal: AbortSignal): Promise<number> {
    if (this.#cut.signal.aborted) [this.#cut, this.#version] = [new AbortController(), undefined];
    // The end of a watch may come late: after the server was away, and after versions came again.
    if (this.#era !== this.#options.client.history.era) this.#version = undefined;
    if (this.#version === undefined && !this.#streamsLists) await this.#list(signal);
    const hasLived = await this.#watch(signal);
    if (hasLived) return 0;
    this.#options.sink.ended?.();
    // Ended at once again: in the pause before it the server may have come back from a backup.
    if (this.#backoff.failuresOf() > 0) this.#version = undefined;
    return this.#pause();
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { client, type, selection, sink, pageSize } = this.#options;
    const floor = this.#ask();
    // Without a resourceVersion the list is up to date, not merely some server's cache.
    const keep = (object: T) => sink.slim(object, true);
    const { items, resourceVersion } = await client.listAll<T>(type, { ...selection, pageSize, keep, signal });
    this.#replace(items, resourceVersion, floor);
  }

  /** Resolves to whether it lived for a while: else the next is to wait, whatever it told. */
  async #watch(signal: AbortSignal): Promise<boolean> {
    const { monotonic } = this.#options;
    const startedAt = monotonic.now();
    using ends = new JoinedSignal(signal, this.#cut.signal);
    const events = this.#open(ends.signal);
    this.#hasBrought = false;
    const hasLived = () => monotonic.now() - startedAt >= healthyWatchMs;
    try {
      if (this.#version === undefined) await this.#initialEvents(events);
      for (let next = await events.next(); !next.done; next = await events.next()) this.#apply(next.value);
    } finally {
      await events.return(undefined);
      if (hasLived()) this.#backoff.forget();
    }
    return hasLived();
  }

  #open(signal: AbortSignal): AsyncGenerator<WatchEvent<T>> {
    const { client, type, selection, silenceTimeoutMs, random } = this.#options;
    const from =
      this.#version === undefined
        ? ({ sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } as const)
        : { resourceVersion: this.#version };
    // Jitter, lest all watches of all operators end and start again together.
    const timeoutSeconds = Math.round(300 * (1 + random()));
    return client.watch<T>(type, {
      ...selection,
      ...from,
      allowWatchBookmarks: true,
      timeoutSeconds,
      silenceTimeoutMs,
      signal,
    });
  }

  async #initialEvents(events: AsyncGenerator<WatchEvent<T>>): Promise<void> {
    const floor = this.#ask();
    const objects = new Map<string, T>();
    let hasBegun = false;
    const following = () =>
      events.next().catch((error: unknown) => {
        const isCutOff = hasBegun && error instanceof KubeConnectionError;
        throw isCutOff ? this.#missingEvents(error) : error;
      });
    for (let next = await following(); !next.done; next = await following()) {
      hasBegun = true;
      const event = next.value;
      if (event.type === 'ERROR') throw event.error;
      if (event.type === 'BOOKMARK') {
        if (event.object.metadata.annotations?.[initialEventsEnd] !== 'true') continue;
        return this.#replace([...objects.values()], event.object.metadata.resourceVersion ?? '', floor);
      }
      if (event.type === 'DELETED') objects.delete(keyOf(event.object));
      else this.#collect(objects, event.object);
    }
    throw this.#missingEvents();
  }

  /** Where the stream is too long for whoever ended it, it would be ended each time; pages are not. */
  #missingEvents(cause?: unknown): InitialEventsMissing {
    return new InitialEventsMissing(this.#options.type.plural, cause);
  }

  #collect(objects: Map<string, T>, object: T): void {
    const kept = this.#options.sink.slim(object, true);
    if (kept !== undefined) objects.set(keyOf(kept), kept);
  }

  #replace(objects: readonly T[], resourceVersion: string, floor: bigint): void {
    this.#told = BigInt(resourceVersion);
    this.#options.sink.replace(objects, this.#told, floor);
    [this.#version, this.#era] = [resourceVersion, this.#askedIn];
    this.#trouble.over(answersAgain);
    this.#options.log.debug('listed', { objects: objects.length, resourceVersion });
  }

  #apply(event: WatchEvent<T>): void {
    const { sink } = this.#options;
    this.#hasBrought = true;
    if (event.type === 'ERROR') throw event.error;
    const { resourceVersion } = event.object.metadata;
    const version = BigInt(resourceVersion ?? 0);
    // What came in between is not told of.
    if (version < BigInt(this.#version ?? 0)) {
      this.doubt();
      throw new GoneBackError();
    }
    this.#backoff.forget();
    const kept = event.type === 'BOOKMARK' ? undefined : sink.slim(event.object, false);
    if (kept !== undefined && event.type === 'DELETED') sink.remove(kept);
    else if (kept !== undefined) sink.upsert(kept);
    sink.alive();
    this.#trouble.over(answersAgain);
    this.#version = resourceVersion;
    this.#told = newer(this.#told, version);
  }

  /** A list is about to be asked for. Answers what an up-to-date one is not older than. */
  #ask(): bigint {
    this.#askedIn = this.#options.client.history.era;
    return newer(this.#told, this.#options.sink.ask());
  }

  /** Decides what the failure means for where to go on, and how long to wait. */
  #failed(error: unknown, signal: AbortSignal): number {
    if (signal.aborted) return 0;
    const streaming = this.#version === undefined && this.#streamsLists;
    const verdict = classify(error);
    if (streaming && (verdict === 'refused' || error instanceof InitialEventsMissing || isSilence(error))) {
      this.#streamsLists = false;
      this.#options.log.debug('no streamed lists here; listing in pages', { error: String(error) });
      return 0;
    }
    const isToldElsewhere = this.#options.sink.failed(error);
    // What fails again before it has told anything may fail at the point to go on from.
    const isFruitless = !this.#hasBrought || this.#backoff.failuresOf() > 0;
    const isLate = isSilence(error) || error instanceof StoodStillError;
    if (verdict !== 'retry' || isLate || (isAway(error) && isFruitless)) this.#version = undefined;
    const delayMs = Math.max(this.#pause(), error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0);
    if (!isToldElsewhere) this.#log(error, verdict === 'expired' || error instanceof StoodStillError, delayMs);
    return delayMs;
  }

  #log(error: unknown, isUsual: boolean, delayMs: number): void {
    const fields = {
      error: error instanceof Error ? error.message : String(error),
      ...(isNothingThere(error) ? { hint: 'is its CustomResourceDefinition installed?' } : {}),
      delayMs: Math.round(delayMs),
    };
    if (isUsual) this.#options.log.debug('the watch is too old; listing again', fields);
    else this.#trouble.failed('watching failed; will try again', fields);
  }

  /** Anything between the minimum and an exponentially growing limit: never less, however often a watch ends at once. */
  #pause(): number {
    const { backoff = usualBackoff, random } = this.#options;
    this.#backoff.next();
    return backoff.minMs + random() * (this.#backoff.last() - backoff.minMs);
  }
}

/** The watch ended, broke, or ignored the question, before it had sent everything. */
class InitialEventsMissing extends Error {
  override readonly name = 'InitialEventsMissing';

  constructor(plural: string, cause?: unknown) {
    super(`watching ${plural}: ended before the initial events did`, { cause });
  }
}

const newer = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** A server that cannot be reached for a while may be one that is restored from a backup: what it has is another history. */
function isAway(error: unknown): boolean {
  return error instanceof KubeConnectionError || (error instanceof KubeError && error.status >= 500);
}

function isSilence(error: unknown): boolean {
  return error instanceof KubeConnectionError && error.timedOut;
}

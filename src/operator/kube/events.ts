import { hash } from 'node:crypto';
import type { Clock } from '../../common/clock.ts';
import type { Log } from '../../common/log.ts';
import type { Runtime } from '../../common/runtime.ts';
import { Trouble } from '../../common/trouble.ts';
import { unlessAborted } from '../../common/unless-aborted.ts';
import type { KubeClient } from './client.ts';
import { DueEvents } from './due-events.ts';
import { isAlreadyExists, isNamespaceTerminating, isNotFound } from './errors.ts';
import { cutUtf8, type EventInput, type EventObject, eventType, toEvent } from './event-object.ts';
import { EventSeries } from './event-series.ts';
import { Pace } from './pace.ts';

export type { EventInput } from './event-object.ts';

export interface EventRecorderOptions extends Pick<Runtime, 'clock' | 'monotonic'> {
  readonly client: KubeClient;
  /** `reportingController`; default `edge-operator.dev/operator`. */
  readonly controller?: string | undefined;
  /** `reportingInstance`: this process, such as its host name. */
  readonly instance: string;
  readonly log: Log;
}

/** How long after an event the same one again only counts up its series, as in client-go. */
const seriesMs = 6 * 60_000;
const maxSeries = 2_000;
const maxDue = 2_000;
const longestFlushMs = 5_000;
/** Of thousands of creates the events would be a fifth of all that is asked of the API server. */
const rate = { perSecond: 20, burst: 100 };

/**
 * Writes Kubernetes events (events.k8s.io/v1) in the background, in order, but that namespaces take turns. The same event
 * again within six minutes is counted in a series of the first one. Never throws and never waits: what cannot be written is
 * logged and dropped. Many at once are written little by little, and of thousands only the newest.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #monotonic: Clock;
  readonly #series = new Map<string, EventSeries>();
  readonly #due = new DueEvents(maxDue);
  readonly #pace = new Pace(rate);
  /** Aborts when what is due is to be written without delay. */
  #hurry = new AbortController();
  readonly #trouble: Trouble;
  #sending: Promise<void> | undefined;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#monotonic = options.monotonic;
    this.#trouble = new Trouble(options.log, options.monotonic);
  }

  /** The note is cut at 1024 bytes. The event is in the object's namespace, or `default` if it has none. */
  record(input: EventInput): void {
    const now = this.#monotonic.now();
    const at = this.#options.clock.now();
    const note = cutUtf8(input.note, 1024);
    const { regarding, type, reason } = input;
    const key = hashOf([regarding.metadata.uid ?? regarding.metadata.name, type, reason, note]);
    const known = this.#series.get(key);
    // Set again in either case: the order of the map is that of last use.
    this.#series.delete(key);
    const series =
      known !== undefined && now - known.countedAt < seriesMs ? known : this.#begin({ ...input, note }, at, key);
    series.count(at, now);
    this.#series.set(key, series);
    const [oldest] = this.#series.keys();
    if (this.#series.size > maxSeries && oldest !== undefined) this.#series.delete(oldest);
    const crowdedOut = this.#due.add(series);
    if (crowdedOut !== undefined) this.#dropped(crowdedOut.event, new Error('too many events at once'));
    this.#sending ??= this.#send();
  }

  /**
   * Resolves when everything recorded has been written or dropped, which is then done without delay, but after five seconds
   * at most: a Lease waits to be given away.
   */
  async flush(): Promise<void> {
    this.#hurry.abort();
    if (this.#sending !== undefined)
      await unlessAborted(this.#sending, this.#monotonic.timeout(longestFlushMs)).catch(() => {});
    this.#hurry = new AbortController();
  }

  #begin(input: EventInput, at: number, key: string): EventSeries {
    const { controller = 'edge-operator.dev/operator', instance } = this.#options;
    return new EventSeries(
      toEvent(input, { controller, instance, now: at, suffix: `${at.toString(16)}.${key.slice(0, 8)}` }),
    );
  }

  async #send(): Promise<void> {
    // A turn later, so that `#sending` is set before it can be cleared.
    await Promise.resolve();
    let isWritten = false;
    for (let series = this.#due.next(); series !== undefined; series = this.#due.next()) {
      isWritten = await this.#tryWrite(series);
      if (this.#due.size > 0) await this.#wait();
    }
    // Of many at once some may be dropped to the last.
    if (isWritten) this.#trouble.over('events are written again');
    this.#sending = undefined;
  }

  async #wait(): Promise<void> {
    const ms = this.#pace.take(this.#monotonic.now());
    const { signal } = this.#hurry;
    if (ms > 0 && !signal.aborted) await this.#monotonic.sleep(ms, signal).catch(() => {});
  }

  async #tryWrite(series: EventSeries): Promise<boolean> {
    try {
      await this.#write(series);
      return true;
    } catch (error) {
      this.#dropped(series.event, error);
      return false;
    }
  }

  async #write(series: EventSeries): Promise<void> {
    const { client } = this.#options;
    if (series.patch() === undefined && (await this.#begun(series))) return;
    const patch = series.patch();
    try {
      await client.patch(eventType, series.event.metadata, { type: 'merge', body: patch });
    } catch (error) {
      // Events live for an hour; one that has gone begins anew.
      if (!isNotFound(error)) throw error;
      await client.create<EventObject>(eventType, { ...series.event, ...patch });
    }
  }

  /** False where it was written before, and the answer to that was lost. */
  async #begun(series: EventSeries): Promise<boolean> {
    const isNew = await this.#options.client.create<EventObject>(eventType, series.event).then(
      () => true,
      (error: unknown) => (isAlreadyExists(error) ? false : Promise.reject(error)),
    );
    series.written();
    return isNew;
  }

  #dropped(event: EventObject, error: unknown): void {
    const { namespace, name } = event.regarding;
    const fields = { kind: event.regarding.kind, namespace, name, reason: event.reason, error: messageOf(error) };
    if (isNamespaceTerminating(error)) this.#options.log.debug('could not write an event', fields);
    else this.#trouble.failed('could not write an event', fields);
  }
}

function hashOf(parts: readonly string[]): string {
  return hash('sha256', parts.join('\0'), 'hex');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

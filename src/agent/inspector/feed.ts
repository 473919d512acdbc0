import type { ServerResponse } from 'node:http';
import type { Capture } from '../captures/capture.ts';
import type { Captures } from '../captures/captures.ts';
import type { Filter } from './filter.ts';
import { search } from './search.ts';
import { type Summary, summary } from './summary.ts';

const flushMs = 150;
const heartbeatMs = 15_000;
/** What a page is shown at a time, and how long is looked for it. */
export const pageful = { most: 500, mostMs: 1_500 };

/** What every event says: of how many captures its requests are. */
interface Listing {
  readonly requests: readonly Summary[];
  readonly held: number;
}

/**
 * Server-sent events for as long as the page is there: `snapshot` (the newest 500 that match, newest first, up to which
 * one was looked, where there are older ones, and whether anything is captured at all), then `changed` (those that match and are new or have
 * changed, oldest first) at most every 150 ms, and again `snapshot` when all were cleared.
 */
export function feed(captures: Captures, filter: Filter, response: ServerResponse): void {
  new Feed(captures, filter, response).start();
}

class Feed {
  readonly #captures: Captures;
  readonly #filter: Filter;
  readonly #response: ServerResponse;
  readonly #gone = new AbortController();
  #changed = new Map<string, Capture>();
  /** Everything is to be sent anew. */
  #isAnew = true;
  #isAtWork = false;
  /** A page that does not keep up starts over with one snapshot, instead of an ever longer queue. */
  #isBehind = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(captures: Captures, filter: Filter, response: ServerResponse) {
    this.#captures = captures;
    this.#filter = filter;
    this.#response = response;
  }

  start(): void {
    const unsubscribe = this.#captures.subscribe((capture) => this.#note(capture));
    const heartbeat = setInterval(() => this.#write(': alive\n\n'), heartbeatMs);
    this.#response.on('drain', () => {
      if (!this.#isBehind) return;
      this.#isBehind = false;
      this.#isAnew = true;
      this.#work();
    });
    this.#response.on('close', () => {
      this.#gone.abort();
      unsubscribe();
      clearTimeout(this.#timer);
      clearInterval(heartbeat);
    });
    this.#work();
  }

  #note(capture: Capture | undefined): void {
    if (this.#isBehind) return;
    if (capture === undefined) {
      this.#isAnew = true;
      this.#work();
      return;
    }
    this.#changed.set(capture.id, capture);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#work();
    }, flushMs);
  }

  /** One thing after the other, as each may take a while of looking into bodies. */
  async #work(): Promise<void> {
    if (this.#isAtWork) return;
    this.#isAtWork = true;
    try {
      while (
        !this.#isBehind &&
        !this.#gone.signal.aborted &&
        (this.#isAnew || (this.#changed.size > 0 && this.#timer === undefined))
      ) {
        if (this.#isAnew) await this.#sendSnapshot();
        else await this.#sendChanged();
      }
    } catch (error) {
      this.#response.destroy(error as Error);
    } finally {
      this.#isAtWork = false;
    }
  }

  async #sendSnapshot(): Promise<void> {
    this.#isAnew = false;
    this.#changed = new Map();
    const { captures, upTo } = await search(this.#captures.list(), this.#filter, {
      ...pageful,
      signal: this.#gone.signal,
    });
    // They were cleared meanwhile.
    if (this.#isAnew) return;
    this.#send('snapshot', { ...this.#listing(captures), upTo, capturing: this.#captures.isOn });
  }

  async #sendChanged(): Promise<void> {
    const changed = [...this.#changed.values()];
    this.#changed = new Map();
    if (changed.length > pageful.most) {
      this.#isAnew = true;
      return;
    }
    const limits = { most: pageful.most, signal: this.#gone.signal };
    const { captures } = await search(changed, this.#filter, limits);
    if (!this.#isAnew) this.#send('changed', this.#listing(captures));
  }

  #listing(captures: readonly Capture[]): Listing {
    return { requests: captures.map(summary), held: this.#captures.count };
  }

  #send(event: string, data: object): void {
    this.#write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  #write(text: string): void {
    if (this.#response.writableNeedDrain) {
      this.#isBehind = true;
      this.#changed = new Map();
    }
    if (!this.#isBehind && !this.#gone.signal.aborted) this.#response.write(text);
  }
}

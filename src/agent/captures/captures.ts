import { Fifo } from '../../common/fifo.ts';
import { newId, type Random } from '../ids.ts';
import type { Ticks } from '../metrics/rate.ts';
import { Capture, type CaptureStart, type CaptureStore, type CarryingTunnel } from './capture.ts';

const defaultBudget = 50_000_000;
const shareOfOneBody = 8;
/** More could not be shown: in base64 and JSON it would be too long for a string. */
const mostOfOneBody = 64_000_000;

export interface CapturesOptions {
  /** `inspect_db_size`: bytes; 0 means 50 MB, -1 turns capturing off. */
  readonly budget: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly ticks: Ticks;
  readonly random: Random;
}

export interface CaptureFilter {
  /** Name of the tunnel, or the key of an unnamed one. */
  readonly tunnel?: string | undefined;
  readonly limit?: number | undefined;
}

/** `undefined` stands for all of them: they were cleared. */
export type CaptureListener = (changed: Capture | undefined) => void;

/**
 * Captured requests in memory, at most `inspect_db_size` bytes: the oldest leave first (Local Agent API, section 8).
 * One body takes at most an eighth of it, so that a huge exchange is cut short instead of driving out all others.
 */
export class Captures {
  readonly #options: CapturesOptions;
  readonly #budget: number;
  readonly #held = new Fifo<Capture>();
  readonly #listeners = new Set<CaptureListener>();
  readonly #store: CaptureStore;
  #bytes = 0;

  constructor(options: CapturesOptions) {
    this.#options = options;
    this.#budget = options.budget === 0 ? defaultBudget : options.budget;
    this.#store = {
      ticks: options.ticks,
      bodyCap: Math.min(Math.floor(this.#budget / shareOfOneBody), mostOfOneBody),
      charge: (capture, bytes) => this.#charge(capture, bytes),
      changed: (capture) => capture.evicted || this.#tell(capture),
    };
  }

  get bytes(): number {
    return this.#bytes;
  }

  get count(): number {
    return this.#held.size;
  }

  /** Whether `inspect_db_size` has any captured at all. */
  get isOn(): boolean {
    return this.#budget >= 0;
  }

  /** Undefined when capturing is off, or the head alone is over the budget. */
  begin(start: CaptureStart): Capture | undefined {
    if (!this.isOn) return undefined;
    const capture = new Capture(newId(this.#options.random, 'req'), this.#options.now(), start, this.#store);
    if (capture.initialBytes > this.#budget) return undefined;
    this.#held.push(capture);
    this.#charge(capture, capture.initialBytes);
    this.#tell(capture);
    return capture;
  }

  /** Newest first. */
  list({ tunnel, limit }: CaptureFilter = {}): readonly Capture[] {
    const all = this.#held.values().toReversed();
    const wanted = tunnel === undefined ? all : all.filter((capture) => isOf(capture.tunnel, tunnel));
    return wanted.slice(0, limit);
  }

  /** Those that are older than the one with this id, newest first; none where it is held no more, as they left before it. */
  before(id: string): readonly Capture[] {
    const all = this.#held.values();
    const at = all.findIndex((capture) => capture.id === id);
    return all.slice(0, Math.max(at, 0)).reverse();
  }

  get(id: string): Capture | undefined {
    return this.#held.values().find((capture) => capture.id === id);
  }

  clear(): void {
    while (this.#held.size > 0) this.#evict();
    this.#tell(undefined);
  }

  /** Returns what ends it. */
  subscribe(listener: CaptureListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #charge(capture: Capture, bytes: number): boolean {
    if (capture.evicted || capture.charged + bytes > this.#budget) return false;
    while (this.#bytes + bytes > this.#budget) this.#evict();
    if (capture.evicted) return false;
    capture.charged += bytes;
    this.#bytes += bytes;
    return true;
  }

  #evict(): void {
    const oldest = this.#held.shift();
    if (oldest === undefined) return;
    this.#bytes -= oldest.charged;
    oldest.evict();
  }

  #tell(capture: Capture | undefined): void {
    for (const listener of this.#listeners) listener(capture);
  }
}

function isOf(tunnel: CarryingTunnel, nameOrKey: string): boolean {
  return tunnel.name === nameOrKey || tunnel.key === nameOrKey;
}

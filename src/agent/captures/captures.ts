import { newId, type Random } from '../ids.ts';
import type { Ticks } from '../metrics/rate.ts';
import { Capture, type CaptureStart, initialBytes, type Ledger } from './capture.ts';

const defaultBudget = 50_000_000;
const shareOfOneBody = 8;

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
 * Captured requests in memory, at most `inspect_db_size` bytes: the oldest leave first (reference section 8). One body
 * takes at most an eighth of it, so that a huge exchange is cut short instead of driving out all others.
 */
export class Captures {
  readonly #options: CapturesOptions;
  readonly #budget: number;
  readonly #held = new Map<string, { readonly capture: Capture; bytes: number }>();
  readonly #listeners = new Set<CaptureListener>();
  readonly #ledger: Ledger;
  #bytes = 0;

  constructor(options: CapturesOptions) {
    this.#options = options;
    this.#budget = options.budget === 0 ? defaultBudget : options.budget;
    this.#ledger = {
      charge: (capture, bytes) => this.#charge(capture.id, bytes),
      changed: (capture) => this.#tell(capture),
    };
  }

  get bytes(): number {
    return this.#bytes;
  }

  get count(): number {
    return this.#held.size;
  }

  /** Undefined when capturing is off, or the head alone is over the budget. */
  begin(start: CaptureStart): Capture | undefined {
    const bytes = initialBytes(start);
    if (bytes > this.#budget) return undefined;
    const { now, ticks, random } = this.#options;
    const bodyCap = Math.floor(this.#budget / shareOfOneBody);
    const id = newId(random, 'req');
    const capture = new Capture(start, { id, startedAt: now(), ticks, ledger: this.#ledger, bodyCap });
    this.#held.set(capture.id, { capture, bytes: 0 });
    this.#charge(capture.id, bytes);
    this.#tell(capture);
    return capture;
  }

  /** Newest first. */
  list({ tunnel, limit }: CaptureFilter = {}): readonly Capture[] {
    const all = [...this.#held.values()].map(({ capture }) => capture).reverse();
    const wanted = tunnel === undefined ? all : all.filter(({ start }) => isOf(start.tunnel, tunnel));
    return wanted.slice(0, limit);
  }

  get(id: string): Capture | undefined {
    return this.#held.get(id)?.capture;
  }

  clear(): void {
    this.#held.clear();
    this.#bytes = 0;
    this.#tell(undefined);
  }

  /** Returns what ends it. */
  subscribe(listener: CaptureListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #charge(id: string, bytes: number): boolean {
    const entry = this.#held.get(id);
    if (entry === undefined || entry.bytes + bytes > this.#budget) return false;
    for (const oldest of this.#held.keys()) {
      if (this.#bytes + bytes <= this.#budget) break;
      if (oldest !== id) this.#evict(oldest);
    }
    entry.bytes += bytes;
    this.#bytes += bytes;
    return true;
  }

  #evict(id: string): void {
    this.#bytes -= this.#held.get(id)?.bytes ?? 0;
    this.#held.delete(id);
  }

  #tell(capture: Capture | undefined): void {
    for (const listener of this.#listeners) listener(capture);
  }
}

function isOf(tunnel: CaptureStart['tunnel'], nameOrKey: string): boolean {
  return tunnel.name === nameOrKey || tunnel.key === nameOrKey;
}

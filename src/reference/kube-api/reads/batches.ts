import type { Clock } from '../../../common/clock.ts';
import { alarm } from './alarm.ts';
import type { Soon } from './soon.ts';

/** Something that gathers what it has to send until it is told to send it. */
export interface Outlet {
  flush(): void;
}

/** After a batch twice the time that it took is left to other work, but no more than this. */
const longestPauseMs = 8;

/**
 * Lets every watch send what happened in one go: each write to a socket costs as much as a hundred events in memory. A
 * batch is sent at the end of this turn of the event loop, or after a pause when the last one was just sent: a few
 * watchers are told at once, and many of them never cost more than a third of the time.
 */
export class Batches {
  readonly #clock: Clock;
  readonly #soon: Soon;
  readonly #waiting = new Set<Outlet>();
  #joined: { readonly lines: readonly Buffer[]; readonly bytes: Buffer } | undefined;
  #notBefore = 0;
  #pending: (() => void) | undefined;

  /** The clock is for measuring. */
  constructor(clock: Clock, soon: Soon) {
    this.#clock = clock;
    this.#soon = soon;
  }

  add(outlet: Outlet): void {
    this.#waiting.add(outlet);
    this.#pending ??= this.#schedule();
  }

  /** Lines as one buffer; the next outlet that asks for the same lines is given the same one. */
  join(lines: readonly Buffer[]): Buffer {
    const last = this.#joined;
    if (last !== undefined && areSame(lines, last.lines)) return last.bytes;
    const bytes = Buffer.concat(lines);
    this.#joined = { lines, bytes };
    return bytes;
  }

  /** Forgets what waits. */
  close(): void {
    this.#pending?.();
    this.#waiting.clear();
  }

  #schedule(): () => void {
    const wait = this.#notBefore - this.#clock.now();
    const flush = () => this.#flush();
    return wait < 1 ? this.#soon(flush) : alarm(this.#clock, wait, flush);
  }

  #flush(): void {
    this.#pending = undefined;
    const started = this.#clock.now();
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const outlet of waiting) outlet.flush();
    this.#joined = undefined;
    // Connections write at the end of the tick: after it the time that they took is known.
    process.nextTick(() => this.#pause(started));
  }

  #pause(started: number): void {
    const now = this.#clock.now();
    this.#notBefore = now + Math.min(2 * (now - started), longestPauseMs);
  }
}

function areSame(lines: readonly Buffer[], others: readonly Buffer[]): boolean {
  return lines.length === others.length && lines.every((line, index) => line === others[index]);
}

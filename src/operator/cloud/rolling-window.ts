import { Fifo } from '../../common/fifo.ts';

const minuteMs = 60_000;
// Covers what the completion time cannot: clocks that run at slightly different rates and a server's rounding.
const marginMs = 500;

/** How long a request counts after its answer, in milliseconds. */
export const windowMs = minuteMs + marginMs;

interface Left<Slot> {
  readonly slot: Slot;
  readonly leavesAt: number;
}

/**
 * Keeps requests for as long as the server may count them. A request arrives at some unknown time between its start
 * and its answer, so it takes a slot from its start until a window after its answer: whenever the slots in use stay
 * within a limit, no rolling minute of the server sees more arrivals than that limit.
 */
export class RollingWindow<Slot> {
  readonly #onLeave: (slot: Slot) => void;
  #finished = new Fifo<Left<Slot>>();
  /** Of earlier processes, in no order. */
  #carried: Left<Slot>[] = [];
  /** When the first of those leaves. */
  #carriedUntil = Number.POSITIVE_INFINITY;
  readonly #running = new Set<Slot>();

  /** @param onLeave told of each slot that is free again */
  constructor(onLeave: (slot: Slot) => void) {
    this.#onLeave = onLeave;
  }

  /** Without an answer yet; each slot is an object of its own. */
  get running(): ReadonlySet<Slot> {
    return this.#running;
  }

  start(slot: Slot): void {
    this.#running.add(slot);
  }

  /** `sent` false gives the slot back at once: the server never saw the request. */
  finish(slot: Slot, sent: boolean, now: number): void {
    this.#running.delete(slot);
    if (sent) this.#finished.push({ slot, leavesAt: now + windowMs });
    else this.#onLeave(slot);
  }

  /** Requests that another process may have ended at that time. */
  carry(slots: readonly Slot[], endedAt: number): void {
    const leavesAt = endedAt + windowMs;
    for (const slot of slots) this.#carried.push({ slot, leavesAt });
    if (slots.length > 0) this.#carriedUntil = Math.min(this.#carriedUntil, leavesAt);
  }

  /** Gives back those at once that have ended, here or elsewhere. */
  drop(isDropped: (slot: Slot) => boolean): void {
    const all = this.#finished.values();
    const carried = this.#carried;
    this.#finished = new Fifo();
    for (const each of all) if (!isDropped(each.slot)) this.#finished.push(each);
    this.#keepCarried(carried.filter(({ slot }) => !isDropped(slot)));
    for (const { slot } of [...all, ...carried]) if (isDropped(slot)) this.#onLeave(slot);
  }

  /** Forgets what has left the window. */
  advance(now: number): void {
    for (let head = this.#finished.oldest; head !== undefined && head.leavesAt <= now; head = this.#finished.oldest) {
      this.#finished.shift();
      this.#onLeave(head.slot);
    }
    if (this.#carriedUntil <= now) this.#advanceCarried(now);
  }

  #advanceCarried(now: number): void {
    const left = this.#carried.filter(({ leavesAt }) => leavesAt <= now);
    this.#keepCarried(this.#carried.filter(({ leavesAt }) => leavesAt > now));
    for (const { slot } of left) this.#onLeave(slot);
  }

  #keepCarried(carried: Left<Slot>[]): void {
    this.#carried = carried;
    this.#carriedUntil = carried.reduce((first, { leavesAt }) => Math.min(first, leavesAt), Number.POSITIVE_INFINITY);
  }

  /** When the next slot is given back by time alone. */
  nextChange(): number | undefined {
    const next = Math.min(this.#finished.oldest?.leavesAt ?? Number.POSITIVE_INFINITY, this.#carriedUntil);
    return Number.isFinite(next) ? next : undefined;
  }

  /** When each of these ended that have, here or elsewhere. */
  endings(isMeant: (slot: Slot) => boolean): readonly number[] {
    const meant = [...this.#finished.values(), ...this.#carried].filter(({ slot }) => isMeant(slot));
    return meant.map(({ leavesAt }) => leavesAt - windowMs);
  }

  /** Those that ended here, and when. */
  finished(): readonly { readonly slot: Slot; readonly endedAt: number }[] {
    return this.#finished.values().map(({ slot, leavesAt }) => ({ slot, endedAt: leavesAt - windowMs }));
  }
}

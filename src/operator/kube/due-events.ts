import type { EventSeries } from './event-series.ts';

/** Events that are to be written: namespaces take turns, and of each the oldest is first. */
export class DueEvents {
  readonly #most: number;
  /** In the order of their turns; none is empty. */
  readonly #namespaces = new Map<string, Set<EventSeries>>();
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#size;
  }

  /** Answers what there is no room for any more: the oldest of the namespace that has most. */
  add(series: EventSeries): EventSeries | undefined {
    const { namespace = '' } = series.event.metadata;
    const those = this.#namespaces.get(namespace) ?? new Set();
    this.#namespaces.set(namespace, those);
    if (those.has(series)) return undefined;
    those.add(series);
    this.#size += 1;
    return this.#size > this.#most ? this.#take(this.#fullest()) : undefined;
  }

  /** The next one, which is due no more. */
  next(): EventSeries | undefined {
    const [namespace] = this.#namespaces.keys();
    return namespace === undefined ? undefined : this.#take(namespace);
  }

  /** Its turn comes again after all others. */
  #take(namespace: string): EventSeries | undefined {
    const those = this.#namespaces.get(namespace);
    const [oldest] = those ?? [];
    if (those === undefined || oldest === undefined) return undefined;
    this.#namespaces.delete(namespace);
    those.delete(oldest);
    if (those.size > 0) this.#namespaces.set(namespace, those);
    this.#size -= 1;
    return oldest;
  }

  #fullest(): string {
    let [fullest, most] = ['', 0];
    for (const [namespace, { size }] of this.#namespaces) if (size > most) [fullest, most] = [namespace, size];
    return fullest;
  }
}

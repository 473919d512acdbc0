import { Fifo } from '../../common/fifo.ts';
import { moreUrgent, type Priority, priorities, rankOf } from '../../common/priority.ts';

interface Entry {
  readonly key: string;
  readonly priority: Priority;
  /** When the key was first added; raising its priority does not make it younger. */
  readonly addedAt: number;
}

export interface Ready {
  readonly key: string;
  readonly priority: Priority;
  readonly waitedMs: number;
}

/** Keys that may be handed out now, each once, in order of priority and age. */
export class ReadyList {
  readonly #ageingMs: number;
  readonly #entries = new Map<string, Entry>();
  readonly #lists = new Map<Priority, Fifo<Entry>>(priorities.map((priority) => [priority, new Fifo()]));

  /** @param ageingMs a key that has waited this much longer overtakes one of the next more urgent class */
  constructor(ageingMs: number) {
    this.#ageingMs = ageingMs;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** False when the key was in the list already; it is then raised to the more urgent of the two classes. */
  add(key: string, priority: Priority, now: number): boolean {
    const present = this.#entries.get(key);
    if (present !== undefined && moreUrgent(present.priority, priority) === present.priority) return false;
    const entry = { key, priority, addedAt: present?.addedAt ?? now };
    this.#entries.set(key, entry);
    this.#lists.get(priority)?.push(entry);
    return present === undefined;
  }

  take(now: number): Ready | undefined {
    const heads = priorities.flatMap((priority) => this.#head(priority) ?? []);
    const [first, ...others] = heads;
    if (first === undefined) return undefined;
    const next = others.reduce((best, head) => (this.#dueAt(head) < this.#dueAt(best) ? head : best), first);
    this.#lists.get(next.priority)?.shift();
    this.#entries.delete(next.key);
    return { key: next.key, priority: next.priority, waitedMs: now - next.addedAt };
  }

  /** The head of a class, past entries that have been raised to another. */
  #head(priority: Priority): Entry | undefined {
    const list = this.#lists.get(priority);
    while (list !== undefined) {
      const head = list.oldest;
      if (head === undefined || this.#entries.get(head.key) === head) return head;
      list.shift();
    }
    return undefined;
  }

  #dueAt(entry: Entry): number {
    return entry.addedAt + rankOf(entry.priority) * this.#ageingMs;
  }
}

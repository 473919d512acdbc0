import { Fifo } from '../../common/fifo.ts';
import { moreUrgent, type Priority, priorities, rankOf } from '../../common/priority.ts';

interface Entry {
  readonly key: string;
  readonly lane: string;
  readonly priority: Priority;
  /** When the key was first added; raising its priority does not make it younger. */
  readonly addedAt: number;
}

export interface Ready {
  readonly key: string;
  readonly lane: string;
  readonly priority: Priority;
  readonly waitedMs: number;
}

/** Keys that may be handed out now, each once, in order of priority and age, but for those of a lane that is full. */
export class ReadyList {
  readonly #ageingMs: number;
  readonly #entries = new Map<string, Entry>();
  /** Those of a lane and class. */
  readonly #lists = new Map<string, Fifo<Entry>>();

  /** @param ageingMs a key that has waited this much longer overtakes one of the next more urgent class */
  constructor(ageingMs: number) {
    this.#ageingMs = ageingMs;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** False when the key was in the list already; it is then raised to the more urgent of the two classes. */
  add(key: string, lane: string, priority: Priority, now: number): boolean {
    const present = this.#entries.get(key);
    if (present !== undefined && moreUrgent(present.priority, priority) === present.priority) return false;
    const entry = { key, lane, priority, addedAt: present?.addedAt ?? now };
    this.#entries.set(key, entry);
    const name = listOf(entry);
    const list = this.#lists.get(name) ?? new Fifo<Entry>();
    this.#lists.set(name, list);
    list.push(entry);
    return present === undefined;
  }

  /** @param isFull nothing more of that lane and class is to be handed out now */
  take(now: number, isFull: (lane: string, priority: Priority) => boolean): Ready | undefined {
    let next: Entry | undefined;
    for (const name of this.#lists.keys()) {
      const head = this.#head(name);
      if (head === undefined || isFull(head.lane, head.priority)) continue;
      if (next === undefined || this.#dueAt(head) < this.#dueAt(next)) next = head;
    }
    if (next === undefined) return undefined;
    this.#lists.get(listOf(next))?.shift();
    this.#entries.delete(next.key);
    return { key: next.key, lane: next.lane, priority: next.priority, waitedMs: now - next.addedAt };
  }

  /** The head of a list, past entries that have been raised to another class. */
  #head(name: string): Entry | undefined {
    const list = this.#lists.get(name);
    while (list !== undefined) {
      const head = list.oldest;
      if (head === undefined) break;
      if (this.#entries.get(head.key) === head) return head;
      list.shift();
    }
    this.#lists.delete(name);
    return undefined;
  }

  #dueAt(entry: Entry): number {
    return entry.addedAt + rankOf(entry.priority) * this.#ageingMs;
  }
}

function listOf({ lane, priority }: Entry): string {
  return `${priorities.indexOf(priority)} ${lane}`;
}

import { Fifo } from '../../common/fifo.ts';
import { moreUrgent, type Priority, priorities, rankOf } from '../../common/priority.ts';
import { Heap } from './heap.ts';

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

/** What is first of a list, as it was last seen. */
interface Head {
  readonly name: string;
  readonly dueAt: number;
  /** Of lists whose heads are due at the same time the one that was begun first is first. */
  readonly order: number;
}

/** Keys that may be handed out now, each once, in order of priority and age, but for those of a lane that is full. */
export class ReadyList {
  readonly #ageingMs: number;
  readonly #entries = new Map<string, Entry>();
  /** Those of a lane and class. */
  readonly #lists = new Map<string, Fifo<Entry>>();
  /** Of each list, for there may be thousands. */
  readonly #heads = new Heap<Head>((a, b) => a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.order < b.order));
  #begun = 0;

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
    const list = this.#lists.get(name) ?? this.#begin(name, this.#dueAt(entry));
    list.push(entry);
    return present === undefined;
  }

  /** @param isFull nothing more of that lane and class is to be handed out now */
  take(now: number, isFull: (lane: string, priority: Priority) => boolean): Ready | undefined {
    const next = this.#pop(isFull);
    if (next === undefined) return undefined;
    this.#entries.delete(next.key);
    return { key: next.key, lane: next.lane, priority: next.priority, waitedMs: now - next.addedAt };
  }

  #pop(isFull: (lane: string, priority: Priority) => boolean): Entry | undefined {
    const full: Head[] = [];
    let next: Entry | undefined;
    for (let top = this.#heads.pop(); top !== undefined; top = this.#heads.pop()) {
      const head = this.#head(top.name);
      if (head === undefined) continue;
      const dueAt = this.#dueAt(head);
      if (dueAt > top.dueAt) this.#heads.push({ ...top, dueAt });
      else if (isFull(head.lane, head.priority)) full.push(top);
      else {
        this.#shift(top);
        next = head;
        break;
      }
    }
    for (const head of full) this.#heads.push(head);
    return next;
  }

  #shift(top: Head): void {
    this.#lists.get(top.name)?.shift();
    const following = this.#head(top.name);
    if (following !== undefined) this.#heads.push({ ...top, dueAt: this.#dueAt(following) });
  }

  #begin(name: string, dueAt: number): Fifo<Entry> {
    const list = new Fifo<Entry>();
    this.#lists.set(name, list);
    this.#begun += 1;
    this.#heads.push({ name, dueAt, order: this.#begun });
    return list;
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

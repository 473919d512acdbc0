/** Something that happens at a moment of virtual time. */
interface Occurrence {
  readonly at: number;
  /** Of two at the same moment the one planned first is first. */
  readonly order: number;
  run: (() => void) | undefined;
}

/** Turns of the event loop without anything new after which nothing more can happen by itself. */
const idleTurns = 2;
const mostTurns = 100_000;

/**
 * Owns virtual time: the only place where anything waits. Between two occurrences all that they caused is run to its
 * end; as nothing in the process waits for the system, that is always the same.
 */
export class Scheduler {
  #heap: Occurrence[] = [];
  #planned = 0;
  #activity = 0;
  #busy = 0;
  #now = 0;

  /** Virtual milliseconds since the world began. */
  get now(): number {
    return this.#now;
  }

  /** When the next thing happens. */
  get nextAt(): number | undefined {
    this.#dropCancelled();
    return this.#heap[0]?.at;
  }

  /** Runs it after so many virtual milliseconds; returns the function that calls it off. */
  after(ms: number, run: () => void): () => void {
    const occurrence: Occurrence = { at: this.#now + Math.max(0, ms), order: this.#planned++, run };
    this.#push(occurrence);
    this.#activity += 1;
    return () => {
      occurrence.run = undefined;
    };
  }

  /** Keeps time from going on until the work is done: a server at its answer. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#busy += 1;
    try {
      return await work();
    } finally {
      this.#busy -= 1;
      this.#activity += 1;
    }
  }

  /** Says that something happened, so that what it causes is waited for. */
  stir(): void {
    this.#activity += 1;
  }

  /** Lets time pass up to `until`, which is then now, or until `enough` says so. */
  async run(until: number, enough: () => boolean = () => false): Promise<void> {
    await this.settle();
    while (!enough()) {
      const at = this.nextAt;
      if (at === undefined || at > until) {
        this.#now = Math.max(this.#now, until);
        return;
      }
      this.#now = at;
      this.#pop()?.run?.();
      await this.settle();
    }
  }

  /** Until all that is under way has come to a stop that only time ends. */
  async settle(): Promise<void> {
    let seen = this.#activity;
    let idle = 0;
    for (let turns = 0; idle < idleTurns || this.#busy > 0; turns += 1) {
      if (turns > mostTurns) throw new Error(`nothing comes to rest at ${this.#now} ms of virtual time`);
      await turn();
      idle = seen === this.#activity ? idle + 1 : 0;
      seen = this.#activity;
    }
  }

  #dropCancelled(): void {
    while (this.#heap[0] !== undefined && this.#heap[0].run === undefined) this.#pop();
  }

  #push(occurrence: Occurrence): void {
    const heap = this.#heap;
    let at = heap.push(occurrence) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(occurrence, heap[parent] as Occurrence)) break;
      heap[at] = heap[parent] as Occurrence;
      at = parent;
    }
    heap[at] = occurrence;
  }

  #pop(): Occurrence | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Occurrence, heap[child] as Occurrence)) child += 1;
      if (!isBefore(heap[child] as Occurrence, last)) break;
      heap[at] = heap[child] as Occurrence;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(a: Occurrence, b: Occurrence): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

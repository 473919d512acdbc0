import type { Scheduler } from './scheduler.ts';

export interface ChannelOptions {
  readonly scheduler: Scheduler;
  /** What everything takes, in milliseconds. */
  readonly latencyMs: number;
  /** Lines have arrived. */
  readonly onText: (text: string) => void;
  /** Runs it where it arrives. */
  readonly arrive: (what: () => void) => void;
}

/** The way of a watch to its client: in order always, but late, held, or with only the last of several states. */
export class Channel {
  readonly #options: ChannelOptions;
  readonly #held: (() => void)[] = [];
  #holds = 0;
  #lagMs = 0;
  #mergeMs = 0;
  #merging = '';
  #free = 0;

  constructor(options: ChannelOptions) {
    this.#options = options;
  }

  /** Lines of the watch. */
  send(text: string): void {
    if (this.#mergeMs === 0) {
      this.pass(() => this.#options.onText(text));
      return;
    }
    if (this.#merging === '') this.#options.scheduler.after(this.#mergeMs, () => this.#flush());
    this.#merging += text;
  }

  /** Anything else that has its place in the order. */
  pass(what: () => void): void {
    if (this.#merging !== '') this.#flush();
    if (this.#holds > 0) this.#held.push(what);
    else this.#carry(what);
  }

  /** Nothing more arrives until the function that it returns is called; of several holds the last to end counts. */
  hold(): () => void {
    this.#holds += 1;
    return once(() => {
      this.#holds -= 1;
      if (this.#holds === 0) for (const what of this.#held.splice(0)) this.#carry(what);
    });
  }

  /** All that is sent from now on arrives so much later; returns the function that ends that. */
  lag(ms: number): () => void {
    this.#lagMs += ms;
    return once(() => {
      this.#lagMs -= ms;
    });
  }

  /** Of an object that changes several times within so long only the last state is sent; returns what ends that. */
  merge(ms: number): () => void {
    this.#mergeMs += ms;
    return once(() => {
      this.#mergeMs -= ms;
      if (this.#mergeMs === 0 && this.#merging !== '') this.#flush();
    });
  }

  #flush(): void {
    const text = this.#merging;
    this.#merging = '';
    if (text !== '') this.pass(() => this.#options.onText(merged(text)));
  }

  #carry(what: () => void): void {
    const { scheduler, latencyMs, arrive } = this.#options;
    this.#free = Math.max(this.#free, scheduler.now + latencyMs + this.#lagMs);
    scheduler.after(this.#free - scheduler.now, () => arrive(what));
  }
}

interface Event {
  readonly type: string;
  readonly object: { readonly metadata?: { readonly uid?: string } };
}

/** Events as a watch shows them that has skipped what came in between: each object once, where it was last. */
export function merged(text: string): string {
  const events = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Event);
  const last = new Map<string, number>();
  const added = new Set<string>();
  for (const [index, { type, object }] of events.entries()) {
    const uid = object.metadata?.uid;
    if (uid === undefined) continue;
    last.set(uid, index);
    if (type === 'ADDED') added.add(uid);
  }
  const kept = events.filter(({ object: { metadata } }, index) => (last.get(metadata?.uid ?? '') ?? index) === index);
  return kept.map((event) => `${JSON.stringify(shownFirst(event, added))}\n`).join('');
}

function shownFirst(event: Event, added: ReadonlySet<string>): Event {
  const isNew = added.has(event.object.metadata?.uid ?? '');
  return isNew && event.type === 'MODIFIED' ? { ...event, type: 'ADDED' } : event;
}

function once(what: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    what();
  };
}

import { windowMs } from '../../../cloud/rolling-window.ts';
import { type Inheritance, succeeding, together, type UseState } from './use-state.ts';

/** What other shards had on record at the last look, for a minute: an account may have come from there with its key. */
export class Beside {
  #named: Inheritance['named'] = new Map();
  #until = Number.NEGATIVE_INFINITY;
  /** What was last asked for. */
  #joined: { readonly of: UseState; readonly all: Inheritance } | undefined;

  /** @param sinceMs for how long it had stood there by then */
  look(texts: readonly string[], now: number, sinceMs: number): void {
    this.#named = succeeding(texts, now, sinceMs).named;
    this.#until = now + windowMs;
    this.#joined = undefined;
  }

  /** What this shard has on record, with that. */
  with(state: UseState, now: number): Inheritance {
    if (this.#joined?.of === state) return this.#joined.all;
    if (now >= this.#until) this.#named = new Map();
    this.#joined = { of: state, all: together(state, { starts: [], named: this.#named }) };
    return this.#joined.all;
  }
}

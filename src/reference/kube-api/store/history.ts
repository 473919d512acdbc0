import type { StoredObject } from './stored-object.ts';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** One write. `current` carries the write's resourceVersion, also when it was deleted. */
export interface Change {
  readonly revision: number;
  readonly type: ChangeType;
  readonly storage: string;
  readonly current: StoredObject;
  readonly previous: StoredObject | undefined;
}

/** The last writes, for watches and consistent lists. */
export class History {
  readonly #limit: number;
  #changes: Change[] = [];
  #compacted: number;

  /** Begins after `revision`, and keeps `limit` changes at least. */
  constructor(limit: number, revision: number) {
    this.#limit = limit;
    this.#compacted = revision;
  }

  /** Changes up to this revision are forgotten. */
  get compactedRevision(): number {
    return this.#compacted;
  }

  add(change: Change): void {
    this.#changes.push(change);
    if (this.#changes.length <= 1.25 * this.#limit) return;
    this.#changes = this.#changes.slice(-this.#limit);
    this.#compacted = (this.#changes[0]?.revision ?? change.revision) - 1;
  }

  /** Changes after `revision`, oldest first. */
  since(revision: number): readonly Change[] {
    const first = this.#changes.findIndex((change) => change.revision > revision);
    return first === -1 ? [] : this.#changes.slice(first);
  }

  /** Forgets all changes, which were up to `revision`. */
  forget(revision: number): void {
    this.#changes = [];
    this.#compacted = revision;
  }
}

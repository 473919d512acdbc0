import type { KubeObject } from '../kube/types.ts';
import { versionOf } from './version.ts';

const maxTombstones = 10_000;

interface Tombstone {
  readonly version: bigint;
  readonly isEarliest: boolean;
}

/** Objects known to be gone, by uid, so that a late answer to a write of ours does not bring one back. Bounded: oldest out. */
export class Tombstones {
  readonly #tombstones = new Map<string, Tombstone>();

  /** @param isEarliest it went at that version or at a later one, but before any list that is asked for from now on */
  add(object: KubeObject, version: bigint, isEarliest = false): void {
    const { uid } = object.metadata;
    if (uid === undefined) return;
    this.#tombstones.delete(uid);
    this.#tombstones.set(uid, { version, isEarliest });
    const [oldest] = this.#tombstones.keys();
    if (this.#tombstones.size > maxTombstones && oldest !== undefined) this.#tombstones.delete(oldest);
  }

  /** A list is asked for that is up to date: by the moment that it shows, all these have gone. */
  settle(): void {
    for (const [uid, { version, isEarliest }] of this.#tombstones) {
      if (isEarliest) this.#tombstones.set(uid, { version, isEarliest: false });
    }
  }

  has(object: KubeObject): boolean {
    return this.#of(object) !== undefined;
  }

  /** The object is from before it went. One that left the selection may come back later, with a newer version. */
  outdates(object: KubeObject): boolean {
    const version = this.#of(object)?.version;
    return version !== undefined && versionOf(object) < version;
  }

  /** It was gone by then, and is shown as of then all the same. */
  contradicts(object: KubeObject, then: bigint): boolean {
    const tombstone = this.#of(object);
    return tombstone !== undefined && !tombstone.isEarliest && tombstone.version <= then && this.outdates(object);
  }

  #of({ metadata: { uid = '' } }: KubeObject): Tombstone | undefined {
    return this.#tombstones.get(uid);
  }

  delete(object: KubeObject): void {
    this.#tombstones.delete(object.metadata.uid ?? '');
  }

  clear(): void {
    this.#tombstones.clear();
  }
}

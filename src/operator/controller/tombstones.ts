import type { KubeObject } from '../kube/types.ts';
import { versionOf } from './version.ts';

const maxTombstones = 10_000;

/** Objects known to be gone, by uid, so that a late answer to a write of ours does not bring one back. Bounded: oldest out. */
export class Tombstones {
  readonly #versions = new Map<string, bigint>();

  add(object: KubeObject, version: bigint): void {
    const { uid } = object.metadata;
    if (uid === undefined) return;
    this.#versions.delete(uid);
    this.#versions.set(uid, version);
    const [oldest] = this.#versions.keys();
    if (this.#versions.size > maxTombstones && oldest !== undefined) this.#versions.delete(oldest);
  }

  has(object: KubeObject): boolean {
    return this.#versions.has(object.metadata.uid ?? '');
  }

  /** The object is from before it went. One that left the selection may come back later, with a newer version. */
  outdates(object: KubeObject): boolean {
    const version = this.#versions.get(object.metadata.uid ?? '');
    return version !== undefined && versionOf(object) < version;
  }

  delete(object: KubeObject): void {
    this.#versions.delete(object.metadata.uid ?? '');
  }

  clear(): void {
    this.#versions.clear();
  }
}

import type { KubeObject } from '../kube/types.ts';
import { versionOf } from './version.ts';

/** More writes than this to one object without an echo only cost a needless notification. */
const maxVersions = 64;

interface Unechoed<T> {
  /** What readers were last notified; undefined when they have never heard of the object. */
  notified: T | undefined;
  readonly versions: bigint[];
}

/** Objects whose stored state is newer than what readers were notified, because we wrote it ourselves. */
export class OwnWrites<T extends KubeObject> {
  readonly #unechoed = new Map<string, Unechoed<T>>();

  add(key: string, written: T, stored: T | undefined): void {
    const entry = this.#unechoed.get(key) ?? { notified: stored, versions: [] };
    entry.versions.push(versionOf(written));
    if (entry.versions.length > maxVersions) entry.versions.shift();
    this.#unechoed.set(key, entry);
  }

  /** What readers were last notified, which is `stored` unless we wrote since. */
  notified(key: string, stored: T): T | undefined {
    const entry = this.#unechoed.get(key);
    return entry === undefined ? stored : entry.notified;
  }

  isEcho(key: string, version: bigint): boolean {
    return this.#unechoed.get(key)?.versions.includes(version) ?? false;
  }

  /** Readers now know `notified`; once that is what is stored, there is nothing left to wait for. */
  notify(key: string, notified: T, stored: T): void {
    const entry = this.#unechoed.get(key);
    if (entry === undefined) return;
    if (notified === stored || versionOf(notified) >= versionOf(stored)) this.#unechoed.delete(key);
    else entry.notified = notified;
  }

  delete(key: string): void {
    this.#unechoed.delete(key);
  }

  clear(): void {
    this.#unechoed.clear();
  }
}

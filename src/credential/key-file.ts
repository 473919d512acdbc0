import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Clock } from '../clock.ts';
import type { Log } from '../telemetry/log.ts';

const rereadMs = 1_000;

/**
 * An API key in a file, such as a mounted Secret. Read again every second, by content: a mounted Secret changes by
 * swapping links, which file notifications do not see.
 */
export class KeyFile {
  readonly #path: string;
  #key: string;

  /** Throws when the file cannot be read or is empty. */
  constructor(path: string) {
    this.#path = path;
    this.#key = readFileSync(path, 'utf8').trim();
    if (this.#key === '') throw new Error(`${path} is empty`);
  }

  get key(): string {
    return this.#key;
  }

  /** Calls `onChange` after the key changed. A file that is away or empty for a moment leaves the last key in force. */
  async watch(clock: Clock, log: Log, signal: AbortSignal, onChange: () => void): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(rereadMs, signal).catch(() => {});
      const read = await readFile(this.#path, 'utf8').catch(() => '');
      const key = read.trim();
      if (signal.aborted || key === '' || key === this.#key) continue;
      this.#key = key;
      log.info('the API key changed', { file: this.#path });
      onChange();
    }
  }
}

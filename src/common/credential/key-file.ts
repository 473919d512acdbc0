import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { UsageError } from '../usage.ts';
import { checkKey } from './key.ts';

const rereadMs = 1_000;

/**
 * An API key in a file, such as a mounted Secret. Read again every second, by content: a mounted Secret changes by
 * swapping links, which file notifications do not see.
 */
export class KeyFile {
  readonly #path: string;
  #key: string;

  /** @throws UsageError when the file cannot be read, is empty or holds no key. */
  constructor(path: string) {
    this.#path = path;
    this.#key = read(path).trim();
    if (this.#key === '') throw new UsageError(`--api-key-file: ${path} is empty`);
    checkKey(this.#key, `--api-key-file: ${path}`);
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

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`--api-key-file: ${(error as Error).message}`, { cause: error });
  }
}

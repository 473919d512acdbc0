import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Runtime } from '../runtime.ts';
import { UsageError } from '../usage.ts';
import { checkKey } from './key.ts';

const rereadMs = 1_000;

/**
 * An API key in a file, such as a mounted Secret. Read again every second, by content: a mounted Secret changes by
 * swapping links, which file notifications do not see.
 */
export class KeyFile {
  readonly #path: string;
  readonly #readFile: Runtime['readFile'];
  #key: string;

  private constructor(path: string, readFile: Runtime['readFile'], key: string) {
    this.#path = path;
    this.#readFile = readFile;
    this.#key = key;
  }

  /** @throws UsageError when the file cannot be read, is empty or holds no key. */
  static async open(path: string, { readFile }: Pick<Runtime, 'readFile'>): Promise<KeyFile> {
    const text = await readFile(path).catch((error: Error) => {
      throw new UsageError(`--api-key-file: ${error.message}`, { cause: error });
    });
    const key = text.trim();
    if (key === '') throw new UsageError(`--api-key-file: ${path} is empty`);
    checkKey(key, `--api-key-file: ${path}`);
    return new KeyFile(path, readFile, key);
  }

  get key(): string {
    return this.#key;
  }

  /** Calls `onChange` after the key changed. A file that is away or empty for a moment leaves the last key in force. */
  async watch(clock: Clock, log: Log, signal: AbortSignal, onChange: () => void): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(rereadMs, signal).catch(() => {});
      const read = await this.#readFile(this.#path).catch(() => '');
      const key = read.trim();
      if (signal.aborted || key === '' || key === this.#key) continue;
      this.#key = key;
      log.info('the API key changed', { file: this.#path });
      onChange();
    }
  }
}

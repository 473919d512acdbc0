import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Defect } from './defects.ts';
import { plant } from './plant.ts';

export interface Found {
  readonly seed: number;
  /** How many seeds it took. */
  readonly seeds: number;
  readonly oracle: string;
  readonly realMs: number;
}

/** Tells stories in the code of a folder, in a process of its own. A process that ends is no find: it tells nothing. */
class Teller implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #ended: Promise<unknown>;

  constructor(dir: string, only: readonly string[] | undefined) {
    const flags = only === undefined ? [] : ['--only', only.join(',')];
    const stdio = ['pipe', 'pipe', 'inherit'] as const;
    this.#child = spawn(process.execPath, [join(dir, 'test/sim/mutants/hunter.ts'), ...flags], { stdio: [...stdio] });
    this.#lines = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
    this.#ended = once(this.#child, 'exit');
  }

  /** Answers the names of the oracles that spoke. */
  async tell(seed: number): Promise<readonly string[]> {
    this.#child.stdin?.write(`${seed}\n`);
    const { done, value } = await this.#lines.next();
    if (done) throw new Error(`the process that tells stories ended at seed ${seed}`);
    return JSON.parse(value);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}

const root = join(import.meta.dirname, '../../..');

/**
 * Looks for a planted defect: a seed at which an oracle speaks of the changed code that is silent of the code as it is.
 * Undefined when no seed shows it.
 */
export async function hunt(defect: Defect, seeds: number, from = 1): Promise<Found | undefined> {
  const began = performance.now();
  using copy = plant(defect);
  await using changed = new Teller(copy.dir, defect.only);
  await using unchanged = new Teller(root, defect.only);
  for (let seed = from; seed < from + seeds; seed += 1) {
    const spoke = await changed.tell(seed);
    if (spoke.length === 0) continue;
    const before = new Set(await unchanged.tell(seed));
    const oracle = spoke.find((name) => !before.has(name));
    if (oracle !== undefined) return { seed, seeds: seed - from + 1, oracle, realMs: performance.now() - began };
  }
  return undefined;
}

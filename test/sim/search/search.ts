import { performance } from 'node:perf_hooks';
import { areEqual } from './check.ts';
import type { Flags } from './flags.ts';
import { Pool } from './pool.ts';
import type { Checked, Done, Job, ShrunkenSeed, Told } from './work.ts';

/** Told of what is found, as it is found. */
export interface Listener {
  /** Seeds end in no order. */
  readonly onTold: (told: Told) => void;
  readonly onShrunken: (shrunken: ShrunkenSeed) => void;
  /** A seed of which nothing can be said, or not shorter. */
  readonly onFailed: (seed: number, message: string) => void;
}

export interface Total {
  readonly seeds: number;
  readonly failing: number;
  readonly violations: number;
  readonly virtualMs: number;
  readonly realMs: number;
}

/** A world that does not come to its end takes its process with it. */
const patienceMs = 600_000;

/** Tells the stories of many seeds, and makes shorter what fails. */
export async function search(flags: Flags, listener: Listener): Promise<Total> {
  using pool = poolOf(flags);
  return await new Search(flags, listener, pool).run();
}

/** Tells the story of each seed three times; those whose hashes are not equal. */
export async function check(flags: Flags): Promise<readonly Checked[]> {
  using pool = poolOf(flags);
  const { from, seeds = 1, only } = flags;
  const jobs = Array.from({ length: seeds }, (_, n) => ({ do: 'check', seed: from + n, only }) as const);
  const checked = await Promise.all(jobs.map((job) => pool.run(job) as Promise<Checked>));
  return checked.filter(({ hashes }) => !areEqual(hashes));
}

function poolOf({ workers }: Flags): Pool<Job, Done> {
  return new Pool({ module: new URL('work.ts', import.meta.url), workers, patienceMs });
}

class Search {
  readonly #flags: Flags;
  readonly #listener: Listener;
  readonly #pool: Pool<Job, Done>;
  readonly #began = performance.now();
  readonly #ends: number;
  readonly #shrunk = new Map<string, number>();
  readonly #shrinking: Promise<void>[] = [];
  #next: number;
  #seeds = 0;
  #failing = 0;
  #violations = 0;
  #virtualMs = 0;

  constructor(flags: Flags, listener: Listener, pool: Pool<Job, Done>) {
    this.#flags = flags;
    this.#listener = listener;
    this.#pool = pool;
    this.#next = flags.from;
    this.#ends = flags.minutes === undefined ? Number.POSITIVE_INFINITY : this.#began + flags.minutes * 60_000;
  }

  async run(): Promise<Total> {
    await Promise.all(Array.from({ length: this.#pool.size }, () => this.#tellOneByOne()));
    await Promise.all(this.#shrinking);
    return {
      seeds: this.#seeds,
      failing: this.#failing,
      violations: this.#violations,
      virtualMs: this.#virtualMs,
      realMs: performance.now() - this.#began,
    };
  }

  async #tellOneByOne(): Promise<void> {
    const { from, seeds = Number.POSITIVE_INFINITY } = this.#flags;
    while (this.#next < from + seeds && performance.now() < this.#ends) await this.#tell(this.#next++);
  }

  async #tell(seed: number): Promise<void> {
    const { only, oracles } = this.#flags;
    this.#seeds += 1;
    try {
      this.#take((await this.#pool.run({ do: 'tell', seed, only, oracles })) as Told);
    } catch (error) {
      this.#failing += 1;
      this.#violations += 1;
      this.#listener.onFailed(seed, messageOf(error));
    }
  }

  #take(told: Told): void {
    this.#virtualMs += told.virtualMs;
    if (told.violations.length === 0) return;
    this.#failing += 1;
    this.#violations += told.violations.length;
    this.#listener.onTold(told);
    for (const oracle of new Set(told.violations.map((violation) => violation.oracle))) this.#shrink(told.seed, oracle);
  }

  #shrink(seed: number, oracle: string): void {
    const before = this.#shrunk.get(oracle) ?? 0;
    if (before >= this.#flags.shrink) return;
    this.#shrunk.set(oracle, before + 1);
    const { only } = this.#flags;
    const job = { do: 'shrink', seed, only, oracle } as const;
    const shrinking = this.#pool.run(job).then(
      (shrunken) => this.#listener.onShrunken(shrunken as ShrunkenSeed),
      (error: unknown) => this.#listener.onFailed(seed, messageOf(error)),
    );
    this.#shrinking.push(shrinking);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** What goes to a worker, and what comes back. */
export interface Order<Job> {
  readonly job: Job;
}
export type Reply<Result> = { readonly result: Result } | { readonly failed: string };

interface Waiting<Job, Result> {
  readonly job: Job;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
}

export interface PoolOptions {
  /** Exports `work`, which does one job. */
  readonly module: URL;
  readonly workers: number;
  /** A worker that takes longer for one job is ended. */
  readonly patienceMs?: number;
}

/** Does jobs in worker processes, each one at a time; a process that dies costs its job alone. */
export class Pool<Job, Result> implements Disposable {
  readonly #options: PoolOptions;
  readonly #waiting: Waiting<Job, Result>[] = [];
  readonly #idle: ChildProcess[] = [];
  readonly #processes = new Set<ChildProcess>();

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#options.workers;
  }

  run(job: Job): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject });
      this.#serve();
    });
  }

  /** Ends the processes; what is under way is lost. */
  [Symbol.dispose](): void {
    for (const process of this.#processes) process.kill();
  }

  #serve(): void {
    while (this.#waiting.length > 0) {
      const worker = this.#idle.pop() ?? this.#spawn();
      if (worker === undefined) return;
      const next = this.#waiting.shift();
      if (next !== undefined) this.#give(worker, next);
    }
  }

  #spawn(): ChildProcess | undefined {
    if (this.#processes.size >= this.#options.workers) return undefined;
    const worker = fork(fileURLToPath(new URL('worker.ts', import.meta.url)), [this.#options.module.href], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#processes.add(worker);
    worker.once('exit', () => {
      this.#processes.delete(worker);
      const at = this.#idle.indexOf(worker);
      if (at !== -1) this.#idle.splice(at, 1);
    });
    return worker;
  }

  #give(worker: ChildProcess, { job, resolve, reject }: Waiting<Job, Result>): void {
    const { patienceMs } = this.#options;
    const impatience = patienceMs === undefined ? undefined : setTimeout(() => worker.kill('SIGKILL'), patienceMs);
    const done = () => {
      clearTimeout(impatience);
      worker.off('exit', onExit);
      worker.off('message', onMessage);
    };
    const onExit = (code: number | null, signal: string | null) => {
      done();
      reject(new Error(`the worker ended (${signal ?? code}) at ${JSON.stringify(job)}`));
      this.#serve();
    };
    const onMessage = (message: unknown) => {
      done();
      const reply = message as Reply<Result>;
      if ('failed' in reply) reject(new Error(reply.failed));
      else resolve(reply.result);
      this.#idle.push(worker);
      this.#serve();
    };
    worker.once('exit', onExit);
    worker.once('message', onMessage);
    worker.send({ job } satisfies Order<Job>);
  }
}

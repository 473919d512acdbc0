import { setTimeout as sleep } from 'node:timers/promises';
import type { OperatorProcess } from '../support/operator-process.ts';
import type { Random } from './random.ts';

export interface Deaths {
  SIGKILL: number;
  SIGTERM: number;
  frozen: number;
}

/** An operator that is killed, stopped or frozen again and again, and started again whenever it has ended. */
export class Replica {
  readonly #start: () => OperatorProcess;
  #operator: OperatorProcess;

  constructor(start: () => OperatorProcess) {
    this.#start = start;
    this.#operator = start();
  }

  get operator(): OperatorProcess {
    return this.#operator;
  }

  /** @param freezes for longer than a lease: another takes over, and this one must do nothing when it wakes */
  async run(random: Random, until: AbortSignal, deaths: Deaths, freezes: boolean): Promise<void> {
    while (!until.aborted) {
      // One that is killed before it is up does nothing worth watching.
      await this.#operator.url('health').catch(() => {});
      const pause = sleep(random.between(500, freezes ? 40_000 : 12_000), undefined, { signal: until }).catch(() => {});
      await Promise.race([pause, this.#operator.exited]);
      if (until.aborted) break;
      if (freezes && random.chance(0.4)) await this.#freeze(random, deaths);
      else await this.#stop(random.chance(0.8) ? 'SIGKILL' : 'SIGTERM', deaths);
    }
    // One that was deposed at the very end.
    if (await ended(this.#operator)) this.#operator = this.#start();
  }

  async #stop(signal: 'SIGKILL' | 'SIGTERM', deaths: Deaths): Promise<void> {
    deaths[signal]++;
    await this.#operator.stop(signal);
    this.#operator = this.#start();
  }

  async #freeze(random: Random, deaths: Deaths): Promise<void> {
    deaths.frozen++;
    this.#operator.signal('SIGSTOP');
    await sleep(random.between(5_000, 25_000));
    this.#operator.signal('SIGCONT');
    if (await ended(this.#operator)) this.#operator = this.#start();
  }
}

/** Whether it ends within the time that a deposed one takes. */
function ended({ exited }: OperatorProcess): Promise<boolean> {
  return Promise.race([exited.then(() => true), sleep(2_000).then(() => false)]);
}

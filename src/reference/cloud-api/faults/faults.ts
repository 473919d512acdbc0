import type { Random } from '../../../common/random-id.ts';
import { type Fault, parseFault } from './fault-spec.ts';

export interface FaultState {
  readonly spec: string;
  /** How many requests it struck. */
  readonly struck: number;
  /** How many more it will strike; null when it stays. */
  readonly remaining: number | null;
}

interface Armed {
  readonly fault: Fault;
  seen: number;
  struck: number;
}

/** The faults that are set. A request is struck by the first that matches it, in the order they were set. */
export class Faults {
  readonly #random: Random;
  #armed: Armed[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  /** @throws FaultSpecError when the spec is written wrong; nothing is set then. */
  add(spec: string): void {
    this.#armed.push({ fault: parseFault(spec), seen: 0, struck: 0 });
  }

  list(): readonly FaultState[] {
    return this.#armed.map(({ fault, struck }) => ({
      spec: fault.spec,
      struck,
      remaining: Number.isFinite(fault.count) ? fault.count - struck : null,
    }));
  }

  clear(): void {
    this.#armed = [];
  }

  /** The fault that strikes this request, if any; counts it. */
  take(method: string, path: string): Fault | undefined {
    for (const armed of this.#armed) {
      if (this.#strikes(armed, method, path)) {
        armed.struck += 1;
        return armed.fault;
      }
    }
    return undefined;
  }

  #strikes(armed: Armed, method: string, path: string): boolean {
    const { fault } = armed;
    if (armed.struck >= fault.count) return false;
    if ((fault.method !== undefined && fault.method !== method) || !fault.path.test(path)) return false;
    armed.seen += 1;
    return armed.seen > fault.skip && (fault.probability === 1 || this.#random() < fault.probability);
  }
}

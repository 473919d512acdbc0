import { CloudRefusalError } from '../../common/http/errors.ts';

const firstProbeMs = 10_000;
const longestProbeMs = 300_000;

interface Refused {
  readonly key: string;
  readonly probeAt: number;
  readonly intervalMs: number;
}

/**
 * Keeps a refused API key from being tried on every call of every object. After a 401 calls with the same key fail
 * here, as `Unauthorized`, until the key changes or it is time for one probe: after 10 s, doubling to 5 minutes.
 * A 403 is about one resource and does not close the gate.
 */
export class CredentialGate {
  readonly #now: () => number;
  #refused: Refused | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Throws when a call with this key would be refused. */
  check(operation: string, key: string): void {
    const refused = this.#refused;
    if (refused?.key === key && this.#now() < refused.probeAt) throw refusedBefore(operation);
  }

  /** As {@link check}, right before sending: of many callers whose probe is due, one gets through. */
  enter(operation: string, key: string): void {
    this.check(operation, key);
    const refused = this.#refused;
    if (refused?.key !== key) return;
    const intervalMs = Math.min(refused.intervalMs * 2, longestProbeMs);
    this.#refused = { ...refused, intervalMs, probeAt: this.#now() + intervalMs };
  }

  /** What the service made of the key. */
  learn(key: string, status: number): void {
    if (status !== 401) {
      if (this.#refused?.key === key) this.#refused = undefined;
    } else if (this.#refused?.key !== key) {
      this.#refused = { key, intervalMs: firstProbeMs, probeAt: this.#now() + firstProbeMs };
    }
  }
}

function refusedBefore(operation: string): CloudRefusalError {
  return new CloudRefusalError('not sent, the API answered 401 to this API key before; replace the key', {
    operation,
    reason: 'Unauthorized',
    definite: true,
    status: 401,
  });
}

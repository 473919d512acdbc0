import { createHash } from 'node:crypto';
import type { Clock } from '../common/clock.ts';
import { type Lease, leaseType } from './controller/lease.ts';
import type { Stored, UseStore } from './kinds/cloud/accounts/use-record.ts';
import type { KubeClient } from './kube/client.ts';
import { isAlreadyExists, isConflict, isNotFound, KubeError } from './kube/errors.ts';
import { microTime } from './kube/micro-time.ts';

const apiVersion = 'coordination.k8s.io/v1';
const kind = 'Lease';
const name = 'edge-operator-budget';
const annotation = 'edge-operator.dev/requests-sent';
const mostTries = 5;

export interface BudgetLeaseOptions {
  readonly client: KubeClient;
  /** The operator's own. */
  readonly namespace: string;
  /** What this operator serves, where it is not everything: others of the namespace have records of their own beside it. */
  readonly scope?: string | undefined;
  readonly clock: Clock;
}

/** Keeps the record of what is sent in an annotation of a Lease, which nobody holds. */
export class BudgetLease implements UseStore {
  readonly #options: BudgetLeaseOptions;
  readonly #annotation: string;
  #lease: Lease | undefined;

  constructor(options: BudgetLeaseOptions) {
    const { scope } = options;
    this.#options = options;
    this.#annotation = scope === undefined ? annotation : `${annotation}-${fingerprint(scope)}`;
  }

  async read(signal: AbortSignal): Promise<Stored> {
    const { client, namespace } = this.#options;
    this.#lease = await client.get<Lease>(leaseType, { namespace, name }, { signal });
    return this.#stored();
  }

  async write(text: string, signal: AbortSignal): Promise<Stored | undefined> {
    for (let tries = 1; tries <= mostTries; tries += 1) {
      const { text: before } = this.#stored();
      try {
        this.#lease = await this.#put(text, signal);
        return this.#stored();
      } catch (error) {
        const isGone = this.#lease !== undefined && isNotFound(error);
        if (!isConflict(error) && !isAlreadyExists(error) && !isGone) throw error;
      }
      // Who wrote another record of the Lease is no matter.
      if ((await this.read(signal)).text !== before) return undefined;
    }
    return undefined;
  }

  /** Without the right, or the namespace, or where it takes no more. */
  isRefusal(error: unknown): boolean {
    if (!(error instanceof KubeError)) return false;
    const { status } = error;
    return status >= 400 && status < 500 && ![401, 408, 409, 429].includes(status);
  }

  #put(text: string, signal: AbortSignal): Promise<Lease> {
    const { client, namespace, clock } = this.#options;
    const { annotations = {}, resourceVersion } = this.#lease?.metadata ?? {};
    const metadata = { namespace, name, annotations: { ...annotations, [this.#annotation]: text } };
    // Changes with every write, so that the server dates each.
    const lease = { apiVersion, kind, metadata, spec: { renewTime: microTime(clock.now()) } };
    if (resourceVersion === undefined) return client.create<Lease>(leaseType, lease, { signal });
    return client.update<Lease>(leaseType, { ...lease, metadata: { ...metadata, resourceVersion } }, { signal });
  }

  /** Dated by the API server. */
  #stored(): Stored {
    const { managedFields = [] } = (this.#lease?.metadata ?? {}) as Managed;
    const times = managedFields.map(({ time = '' }) => Date.parse(time)).filter((time) => !Number.isNaN(time));
    return {
      text: this.#lease?.metadata.annotations?.[this.#annotation],
      writtenAt: times.length === 0 ? undefined : Math.max(...times),
    };
  }
}

interface Managed {
  readonly managedFields?: readonly { readonly time?: string }[];
}

function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

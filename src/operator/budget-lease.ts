import type { Clock } from '../common/clock.ts';
import { type Lease, leaseType } from './controller/lease.ts';
import type { Stored, UseStore } from './kinds/cloud/accounts/use-record.ts';
import type { KubeClient } from './kube/client.ts';
import { isAlreadyExists, isConflict, isNotFound, KubeError } from './kube/errors.ts';
import { microTime } from './kube/micro-time.ts';

const name = 'edge-operator-budget';
const annotation = 'edge-operator.dev/requests-sent';

export interface BudgetLeaseOptions {
  readonly client: KubeClient;
  /** The operator's own. */
  readonly namespace: string;
  readonly clock: Clock;
}

/** Keeps the record of what is sent in an annotation of a Lease, which nobody holds. */
export class BudgetLease implements UseStore {
  readonly #options: BudgetLeaseOptions;
  #lease: Lease | undefined;

  constructor(options: BudgetLeaseOptions) {
    this.#options = options;
  }

  async read(signal: AbortSignal): Promise<Stored> {
    const { client, namespace } = this.#options;
    this.#lease = await client.get<Lease>(leaseType, { namespace, name }, { signal });
    return storedIn(this.#lease);
  }

  async write(text: string, signal: AbortSignal): Promise<Stored | undefined> {
    try {
      this.#lease = await this.#put(text, signal);
      return storedIn(this.#lease);
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error)) return undefined;
      // Somebody deleted it.
      if (this.#lease !== undefined && isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Without the right, or without the namespace. */
  isRefusal(error: unknown): boolean {
    return error instanceof KubeError && (error.status === 403 || error.status === 404);
  }

  #put(text: string, signal: AbortSignal): Promise<Lease> {
    const { client, namespace, clock } = this.#options;
    // Changes with every write, so that the server dates each.
    const spec = { renewTime: microTime(clock.now()) };
    const annotations = { [annotation]: text };
    if (this.#lease !== undefined) {
      const { resourceVersion } = this.#lease.metadata;
      const metadata = { namespace, name, annotations, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
      return client.update<Lease>(leaseType, { apiVersion, kind, metadata, spec }, { signal });
    }
    const metadata = { namespace, name, annotations };
    return client.create<Lease>(leaseType, { apiVersion, kind, metadata, spec }, { signal });
  }
}

const apiVersion = 'coordination.k8s.io/v1';
const kind = 'Lease';

interface Managed {
  readonly managedFields?: readonly { readonly time?: string }[];
}

/** Dated by the API server. */
function storedIn(lease: Lease | undefined): Stored {
  const { managedFields = [] } = (lease?.metadata ?? {}) as Managed;
  const times = managedFields.map(({ time = '' }) => Date.parse(time)).filter((time) => !Number.isNaN(time));
  return {
    text: lease?.metadata.annotations?.[annotation],
    writtenAt: times.length === 0 ? undefined : Math.max(...times),
  };
}

import type { KubeClient } from '../kube/client.ts';
import { microTime } from '../kube/micro-time.ts';
import type { KubeObject, ResourceType } from '../kube/types.ts';

export const leaseType: ResourceType = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
};

/** coordination.k8s.io/v1; times are RFC 3339 with microseconds. */
export interface LeaseSpec {
  /** Empty or absent: nobody holds it. */
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec;
}

/** An int32: the API server takes no more, from whoever has written what there is. */
const mostTransitions = 2 ** 31 - 1;

/** The lease as `identity` takes or renews it at `nowMs`. */
export function claimed(
  previous: LeaseSpec | undefined,
  identity: string,
  durationMs: number,
  nowMs: number,
): LeaseSpec {
  const now = microTime(nowMs);
  const renewal = previous?.holderIdentity === identity;
  const transitions = previous?.leaseTransitions ?? 0;
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(durationMs / 1_000),
    acquireTime: renewal ? (previous.acquireTime ?? now) : now,
    renewTime: now,
    leaseTransitions: Math.min(renewal || previous === undefined ? transitions : transitions + 1, mostTransitions),
  };
}

const givenAwaySeconds = 1;

/** The lease as its holder gives it away, so that nobody has to wait for it to expire. */
export function released(previous: LeaseSpec | undefined, nowMs: number): LeaseSpec {
  const now = microTime(nowMs);
  return { ...previous, holderIdentity: '', leaseDurationSeconds: givenAwaySeconds, renewTime: now, acquireTime: now };
}

/** Nobody holds it, and no holder gave it away: somebody else took him out of it. */
export function isEmptied({ spec }: Lease): boolean {
  return (spec?.holderIdentity ?? '') === '' && spec?.leaseDurationSeconds !== givenAwaySeconds;
}

/** Names who asks the holder of a lease for it; whatever the holder writes next takes it away. */
const wishAnnotation = 'edge-operator.dev/asked-for-by';

/** Who asks for the lease. */
export function wishIn(lease: Lease | undefined): string | undefined {
  return lease?.metadata.annotations?.[wishAnnotation];
}

function withWish({ metadata, ...lease }: Lease, identity: string | undefined): Lease {
  const { [wishAnnotation]: _, ...annotations } = metadata.annotations ?? {};
  const wish = identity === undefined ? {} : { [wishAnnotation]: identity };
  return { ...lease, metadata: { ...metadata, annotations: { ...annotations, ...wish } } };
}

export interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

/** One Lease object; every write fails with a conflict when somebody else wrote since it was read. */
export class LeaseStore {
  readonly #client: KubeClient;
  readonly #name: LeaseName;

  constructor(client: KubeClient, name: LeaseName) {
    this.#client = client;
    this.#name = name;
  }

  read(signal: AbortSignal): Promise<Lease | undefined> {
    return this.#client.get<Lease>(leaseType, this.#name, { signal });
  }

  /** @param base what was read, if there was anything */
  write(base: Lease | undefined, spec: LeaseSpec, signal: AbortSignal): Promise<Lease> {
    if (base !== undefined)
      return this.#client.update<Lease>(leaseType, { ...withWish(base, undefined), spec }, { signal });
    const { namespace, name } = this.#name;
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name }, spec };
    return this.#client.create<Lease>(leaseType, lease, { signal });
  }

  /** Asks the holder for it, unless somebody else did. */
  async ask(base: Lease | undefined, identity: string, signal: AbortSignal): Promise<Lease | undefined> {
    if (base === undefined || wishIn(base) !== undefined) return base;
    return this.#client.update<Lease>(leaseType, withWish(base, identity), { signal });
  }
}

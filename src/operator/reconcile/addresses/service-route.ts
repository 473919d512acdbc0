import type { Clock } from '../../../common/clock.ts';
import { refusalOf } from '../../../common/http/address.ts';
import { ApiError } from '../../../common/http/errors.ts';
import type { KubeClient } from '../../kube/client.ts';
import { isNothingThere, KubeError } from '../../kube/errors.ts';
import type { KubeObject, ResourceType } from '../../kube/types.ts';
import { DependencyError, RefusedError } from '../status/outcome.ts';

/** A port of a Service. */
export interface ServicePort {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

export interface ServiceRoutesOptions {
  readonly reader: Pick<KubeClient, 'get' | 'listAll'>;
  readonly monotonic: Pick<Clock, 'now'>;
}

interface ServiceObject extends KubeObject {
  readonly spec?: {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly selector?: Readonly<Record<string, string>>;
    readonly ports?: readonly { readonly port: number; readonly protocol?: string }[];
  };
}

interface Endpoint {
  readonly addresses?: readonly string[];
  readonly conditions?: { readonly ready?: boolean | null };
  readonly targetRef?: { readonly kind?: string; readonly namespace?: string };
}

interface EndpointSlice extends KubeObject {
  readonly endpoints?: readonly Endpoint[] | null;
}

const serviceType: ResourceType = { group: '', version: 'v1', plural: 'services', kind: 'Service', namespaced: true };
const sliceType: ResourceType = {
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  kind: 'EndpointSlice',
  namespaced: true,
};

/** What was looked at is good for so long: as long as nobody would notice a changed Service. */
const goodForMs = 10_000;

/**
 * Where requests to Services go. Whoever may write a Service can make it lead anywhere, and the operator reaches what
 * they do not: a Service is used only as the front of pods of its own namespace, and connected to by the address that was
 * looked at.
 */
export class ServiceRoutes {
  readonly #options: ServiceRoutesOptions;
  readonly #looks = new Map<string, { readonly at: number; readonly address: Promise<string> }>();

  constructor(options: ServiceRoutesOptions) {
    this.#options = options;
  }

  /**
   * The IP address to connect to; the same look serves all for 10 s. Throws a RefusedError where no request may go, an
   * ApiError (`Unreachable`, as of a host without a name) where there is nothing, and a DependencyError where the operator
   * may not look.
   */
  addressOf(target: ServicePort): Promise<string> {
    const now = this.#options.monotonic.now();
    const key = `${idOf(target)}:${target.port}`;
    for (const [known, { at }] of this.#looks) if (now - at >= goodForMs) this.#looks.delete(known);
    const address = this.#looks.get(key)?.address ?? this.#look(target);
    if (!this.#looks.has(key)) this.#looks.set(key, { at: now, address });
    return address;
  }

  async #look(target: ServicePort): Promise<string> {
    const { namespace, name } = target;
    try {
      const service = await this.#options.reader.get<ServiceObject>(serviceType, { namespace, name });
      if (service === undefined) throw missing(target, 'does not exist');
      return usable(target, await this.#addressOf(target, service));
    } catch (error) {
      if (!(error instanceof KubeError) || ![401, 403].includes(error.status)) throw error;
      const rights = 'check that the operator may get Services and list EndpointSlices';
      throw new DependencyError(`Service ${idOf(target)} cannot be looked at: ${rights}`);
    }
  }

  async #addressOf(target: ServicePort, { spec = {} }: ServiceObject): Promise<string> {
    const { type, clusterIP, selector = {}, ports = [] } = spec;
    if (type === 'ExternalName') throw refused(target, 'is of type ExternalName');
    if (Object.keys(selector).length === 0) throw refused(target, 'has no selector');
    const endpoints = await this.#endpointsOf(target);
    if (clusterIP === undefined || clusterIP === '' || clusterIP === 'None') return readyOf(target, endpoints);
    const has = ports.some(({ port, protocol = 'TCP' }) => port === target.port && protocol === 'TCP');
    if (!has) throw missing(target, `has no TCP port ${target.port}`);
    return clusterIP;
  }

  /** Those that may be connected to. Also with an address of the Service itself, for it leads to any of them. */
  async #endpointsOf(target: ServicePort): Promise<readonly Endpoint[]> {
    const { namespace, name } = target;
    const labelSelector = `kubernetes.io/service-name=${name}`;
    const { items } = await this.#options.reader
      .listAll<EndpointSlice>(sliceType, { namespace, labelSelector })
      .catch((error: unknown) => {
        if (isNothingThere(error)) return { items: [] };
        throw error;
      });
    const endpoints = items.flatMap((slice) => slice.endpoints ?? []);
    for (const { addresses = [], targetRef } of endpoints) {
      const isPod = targetRef?.kind === 'Pod' && (targetRef.namespace ?? namespace) === namespace;
      if (!isPod) throw refused(target, 'has an endpoint that is no pod of its namespace');
      for (const address of addresses) usable(target, address);
    }
    return endpoints;
  }
}

function readyOf(target: ServicePort, endpoints: readonly Endpoint[]): string {
  const ready = endpoints.filter(({ conditions }) => conditions?.ready !== false);
  const [address] = ready.flatMap(({ addresses = [] }) => addresses).sort();
  if (address === undefined) throw nothingThere(new Error(`Service ${idOf(target)} has no ready endpoint`));
  return address;
}

function usable(target: ServicePort, address: string): string {
  const refusal = refusalOf(address);
  if (refusal !== undefined)
    throw refused(target, `leads to ${JSON.stringify(address.slice(0, 64))}, which ${refusal}`);
  return address;
}

function refused(target: ServicePort, why: string): RefusedError {
  const use = 'only a Service that selects pods of its namespace is used, and no request is sent to another';
  return new RefusedError(`spec.serviceRef: Service ${idOf(target)} ${why}: ${use}`);
}

/** Somebody has yet to make it. */
function missing(target: ServicePort, why: string): ApiError {
  return nothingThere(new DependencyError(`Service ${idOf(target)} ${why}`));
}

/** As of a host name that is not known: nothing was sent, and nothing runs there. */
function nothingThere(why: Error): ApiError {
  const cause = Object.assign(why, { code: 'ENOTFOUND' });
  return new ApiError(why.message, { reason: 'Unreachable', definite: true, cause });
}

function idOf({ namespace, name }: ServicePort): string {
  return `${namespace}/${name}`;
}

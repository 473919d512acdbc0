import type { ReservedAddr, ReservedAddrCreate, ReservedAddrUpdate } from '../../../cloud/schemas.ts';
import type { Difference, Json } from '../../../reconcile/external/contract.ts';
import type { Spec, Status } from './schema.ts';

/** Without the endpoint configuration, which only an update attaches (Cloud Management API, section 4, rule 2). */
export function toCreate({ description = '', metadata, region }: Spec): ReservedAddrCreate {
  return { description, metadata, region };
}

/** What a create decides; the API reports unset text as absent or empty, which is the same here. */
export function contentOf(addr: Pick<ReservedAddr, 'description' | 'metadata' | 'region'> | Spec): Json {
  return { description: addr.description ?? '', metadata: addr.metadata ?? '', region: addr.region };
}

export function toUpdate(spec: Spec, fields: ReadonlySet<string>): ReservedAddrUpdate {
  return {
    description: fields.has('description') ? spec.description : undefined,
    metadata: fields.has('metadata') ? spec.metadata : undefined,
    endpoint_configuration_id: fields.has('endpointConfigurationID') ? spec.endpointConfigurationID : undefined,
  };
}

/** Fields that the user set and that are different in the cloud; a region is always set, by its default. */
export function diff(spec: Spec, addr: ReservedAddr): readonly Difference[] {
  const out: Difference[] = [];
  const compare = (field: keyof Spec, found: string) => {
    if (spec[field] !== undefined && spec[field] !== found) out.push({ field });
  };
  if (spec.region !== addr.region) out.push({ field: 'region', immutable: addr.region });
  compare('description', addr.description);
  compare('metadata', addr.metadata ?? '');
  compare('endpointConfigurationID', addr.endpoint_configuration?.id ?? '');
  return out;
}

export function toStatus(addr: ReservedAddr): Omit<Status, 'conditions' | 'observedGeneration'> {
  const colon = addr.addr.lastIndexOf(':');
  const port = Number(addr.addr.slice(colon + 1));
  const isPort = Number.isInteger(port) && port >= 0 && port <= 65_535;
  const { endpoint_configuration: configuration } = addr;
  return {
    id: addr.id,
    uri: addr.uri,
    addr: addr.addr,
    ...(colon > 0 && isPort ? { host: addr.addr.slice(0, colon), port } : {}),
    region: addr.region,
    createdAt: addr.created_at,
    ...(configuration ? { endpointConfiguration: { id: configuration.id, uri: configuration.uri } } : {}),
  };
}

import { z } from 'zod';
import type { WallClock } from '../../common/clock.ts';
import { Collection, kinds } from './collection.ts';
import { hostport, idOf, type Region, refShape, regions, text, time, uri } from './fields.ts';
import { ref } from './ids.ts';
import type { ApiRequest, Operation, Route } from './operation.ts';
import { resourceOperations } from './resource.ts';
import type { World } from './world.ts';

export const protocols = ['http', 'https', 'tcp', 'tls'] as const;
export const endpointTypes = ['ephemeral', 'edge'] as const;

export interface EndpointRecord {
  readonly id: string;
  readonly region: Region;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly publicUrl: string;
  readonly proto: (typeof protocols)[number];
  readonly hostport: string;
  readonly type: (typeof endpointTypes)[number];
  readonly metadata?: string | undefined;
  readonly domainId?: string | undefined;
  readonly tcpAddrId?: string | undefined;
  readonly tunnelId?: string | undefined;
  readonly edgeId?: string | undefined;
  /** When the lease of the agent that serves it ends, in ms since 1970; without it, never. */
  readonly expiresAt?: number | undefined;
}

const answer = z.strictObject({
  id: idOf('ep'),
  region: z.enum(regions),
  created_at: time,
  updated_at: time,
  public_url: uri,
  proto: z.enum(protocols),
  hostport,
  type: z.enum(endpointTypes).describe('ephemeral: served by a tunnel of an agent; edge: served by an edge'),
  metadata: text.optional(),
  domain: refShape.optional(),
  tcp_addr: refShape.optional(),
  tunnel: refShape.optional().describe('of ephemeral endpoints'),
  edge: refShape.optional().describe('of edge endpoints'),
});

/** Active endpoints, read-only: Cloud Management API, sections 2 and 4. */
export function endpointOperations(world: World): readonly Operation[] {
  const collection = endpointCollection(world);
  const operations = resourceOperations({
    name: 'endpoints',
    title: 'Endpoint',
    collection,
    answer,
    render: renderEndpoint,
  });
  return operations.map((operation) => afterExpiry(operation, collection, world.clock));
}

/** The route as it is once the endpoints whose lease has ended are gone. */
export function afterExpiry<R extends Route>(route: R, collection: Collection<EndpointRecord>, clock: WallClock): R {
  const handle = (request: ApiRequest): unknown => {
    collection.expire(request.account, clock.now());
    return route.handle(request);
  };
  return { ...route, handle };
}

export const endpointCollection = (world: World): Collection<EndpointRecord> =>
  new Collection(world.statements, kinds.endpoint);

/** Fields that do not apply are undefined, so JSON omits them. */
export function renderEndpoint(item: EndpointRecord, base: string): z.output<typeof answer> {
  const maybe = (id: string | undefined) => (id === undefined ? undefined : ref(base, id));
  return {
    id: item.id,
    region: item.region,
    created_at: item.createdAt,
    updated_at: item.updatedAt,
    public_url: item.publicUrl,
    proto: item.proto,
    hostport: item.hostport,
    type: item.type,
    metadata: item.metadata,
    domain: maybe(item.domainId),
    tcp_addr: maybe(item.tcpAddrId),
    tunnel: maybe(item.tunnelId),
    edge: maybe(item.edgeId),
  };
}

/** The record as wanted, with the times that go on from the one before: only what shows counts as an update. */
export function reviseEndpoint(
  wanted: Omit<EndpointRecord, 'createdAt' | 'updatedAt'>,
  before: EndpointRecord | undefined,
  now: string,
): EndpointRecord {
  const times = { createdAt: before?.createdAt ?? now, updatedAt: before?.updatedAt ?? now };
  const record = { ...wanted, ...times };
  const shown = (item: EndpointRecord) => JSON.stringify(renderEndpoint(item, ''));
  return before === undefined || shown(before) === shown(record) ? record : { ...record, updatedAt: now };
}

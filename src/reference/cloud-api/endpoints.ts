import { Collection } from './collection.ts';
import { kinds } from './kinds.ts';
import { ref } from './ref.ts';
import type { Resource } from './resource.ts';
import type { World } from './world.ts';

export interface EndpointRecord {
  readonly id: string;
  readonly region: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly publicUrl: string;
  readonly proto: 'http' | 'https' | 'tcp' | 'tls';
  readonly hostport: string;
  readonly type: 'ephemeral' | 'edge';
  readonly metadata?: string | undefined;
  readonly domainId?: string | undefined;
  readonly tcpAddrId?: string | undefined;
  readonly tunnelId?: string | undefined;
  readonly edgeId?: string | undefined;
}

/** Active endpoints, read-only: reference sections 2 and 4. */
export function endpoints(world: World): Resource<EndpointRecord> {
  return { name: 'endpoints', collection: new Collection<EndpointRecord>(world.database, kinds.endpoint), render };
}

/** Fields that do not apply are undefined, so JSON omits them. */
function render(item: EndpointRecord, base: string): unknown {
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

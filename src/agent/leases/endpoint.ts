import type { Tunnel } from '../tunnels/tunnel.ts';

/** What a tunnel serves, as the cloud is told. */
export interface Endpoint {
  readonly public_url: string;
  readonly proto: 'http' | 'tcp' | 'tls';
  readonly hostport: string;
  readonly region: string;
  /** Absent where the tunnel has none. */
  readonly metadata?: string;
  readonly tunnel: string;
}

export type ServedTunnel = Pick<Tunnel, 'key' | 'publicURL' | 'definition'>;

/** `id` is that of the tunnel's Ref. */
export function endpointOf({ publicURL, definition }: ServedTunnel, region: string, id: string): Endpoint {
  return {
    public_url: publicURL,
    proto: definition.proto,
    hostport: publicURL.slice(publicURL.indexOf('//') + 2),
    region,
    ...(definition.metadata === undefined ? {} : { metadata: definition.metadata }),
    tunnel: id,
  };
}

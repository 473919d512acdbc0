import { z } from 'zod';
import { regions } from '../fields.ts';

/** An id with its type prefix (reference section 2); shorter than the server's own, so that people can write them. */
const id = (...prefixes: readonly string[]) =>
  z.string().regex(new RegExp(`^(${prefixes.join('|')})_[0-9A-Za-z]{1,64}$`), {
    error: `must be an id: ${prefixes.map((prefix) => `${prefix}_…`).join(' or ')} and 1 to 64 letters or digits`,
  });

const ids = (prefix: string) => z.array(id(prefix)).default([]);

const httpsEdge = z.strictObject({
  id: id('edghts'),
  /** Default edge. Cannot be set through the API (reference section 2, TLS termination). */
  terminate_at: z.enum(['edge', 'upstream']).optional(),
  routes: ids('edghtsrt'),
});

const endpoint = z
  .strictObject({
    id: id('ep'),
    region: z.enum(regions).default('us'),
    public_url: z.url(),
    proto: z.enum(['http', 'https', 'tcp', 'tls']),
    hostport: z.string().regex(/^.+:\d{1,5}$/, { error: 'must be hostname:port' }),
    type: z.enum(['ephemeral', 'edge']),
    metadata: z.string().optional(),
    domain: id('rd').optional(),
    tcp_addr: id('ra').optional(),
    tunnel: id('tn').optional(),
    edge: id('edghts', 'edgtls').optional(),
  })
  .refine((it) => it.type !== 'edge' || (it.edge !== undefined && it.tunnel === undefined), {
    error: 'of type edge needs "edge" and has no "tunnel"',
  })
  .refine((it) => it.type !== 'ephemeral' || (it.tunnel !== undefined && it.edge === undefined), {
    error: 'of type ephemeral needs "tunnel" and has no "edge"',
  });

/** What the API cannot create. Refs of endpoints are written as the id alone. */
export const seedSchema = z.strictObject({
  /** Whom it is for; default every account of the server. */
  accounts: z.array(z.string().min(1)).min(1).optional(),
  endpoint_configurations: ids('ec'),
  ip_policies: ids('ipp'),
  certificate_authorities: ids('ca'),
  reserved_domains: ids('rd'),
  https_edges: z.array(httpsEdge).default([]),
  tls_edges: ids('edgtls'),
  endpoints: z.array(endpoint).default([]),
});

export type Seed = z.input<typeof seedSchema>;
export type ReadSeed = z.output<typeof seedSchema>;
export type EndpointSeed = ReadSeed['endpoints'][number];

import { z } from 'zod';
import { endpointTypes, protocols } from '../endpoints.ts';
import { hostport, idOf, region } from '../fields.ts';

const ids = (prefix: string) => z.array(idOf(prefix)).default([]);

const httpsEdge = z.strictObject({
  id: idOf('edghts'),
  /** Default edge. Cannot be set through the API (Cloud Management API, section 2, TLS termination). */
  terminate_at: z.enum(['edge', 'upstream']).optional(),
  routes: ids('edghtsrt'),
});

const endpoint = z
  .strictObject({
    id: idOf('ep'),
    region,
    public_url: z.url(),
    proto: z.enum(protocols),
    hostport,
    type: z.enum(endpointTypes),
    metadata: z.string().optional(),
    domain: idOf('rd').optional(),
    tcp_addr: idOf('ra').optional(),
    tunnel: idOf('tn').optional(),
    edge: idOf('edghts', 'edgtls').optional(),
  })
  .refine((it) => it.type !== 'edge' || (it.edge !== undefined && it.tunnel === undefined), {
    error: 'of type edge needs "edge" and has no "tunnel"',
  })
  .refine((it) => it.type !== 'ephemeral' || (it.tunnel !== undefined && it.edge === undefined), {
    error: 'of type ephemeral needs "tunnel" and has no "edge"',
  });

/** What the API cannot create. Refs of endpoints are written as the id alone. */
/** A route is of one edge. */
function checkRoutes(edges: readonly z.output<typeof httpsEdge>[], context: z.RefinementCtx): void {
  const known = new Set<string>();
  for (const [edge, { routes }] of edges.entries())
    for (const [index, route] of routes.entries()) {
      if (known.has(route))
        context.addIssue({ code: 'custom', path: [edge, 'routes', index], message: 'is given twice' });
      known.add(route);
    }
}

export const seedSchema = z.strictObject({
  /** Whom it is for; default every account of the server. */
  accounts: z.array(z.string().min(1)).min(1).optional(),
  endpoint_configurations: ids('ec'),
  ip_policies: ids('ipp'),
  certificate_authorities: ids('ca'),
  reserved_domains: ids('rd'),
  https_edges: z.array(httpsEdge).default([]).superRefine(checkRoutes),
  tls_edges: ids('edgtls'),
  endpoints: z.array(endpoint).default([]),
});

export type Seed = z.input<typeof seedSchema>;
export type ReadSeed = z.output<typeof seedSchema>;
export type EndpointSeed = ReadSeed['endpoints'][number];

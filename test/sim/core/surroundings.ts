import type { Seed } from '../../../src/reference/cloud-api/seed/schema.ts';

const id = (prefix: string, text: string) => `${prefix}_${text.padEnd(27, '0')}`;

/** What every cloud of the simulation has from the start: what the API cannot create. */
export const surroundings = {
  endpointConfigurations: ['a', 'b'].map((text) => id('ec', text)),
  ipPolicies: ['a', 'b', 'c'].map((text) => id('ipp', text)),
  certificateAuthorities: ['a', 'b'].map((text) => id('ca', text)),
  httpsEdges: [...'abcdefghijkl'].map((text) => ({ id: id('edghts', text), routes: [id('edghtsrt', text)] })),
  tlsEdges: [...'abcdefghijkl'].map((text) => id('edgtls', text)),
} as const;

export const seedOfWorld: Seed = {
  endpoint_configurations: surroundings.endpointConfigurations,
  ip_policies: surroundings.ipPolicies,
  certificate_authorities: surroundings.certificateAuthorities,
  https_edges: surroundings.httpsEdges.map(({ id, routes }) => ({ id, routes })),
  tls_edges: surroundings.tlsEdges,
  endpoints: ['a', 'b', 'c'].map((text) => ({
    id: id('ep', text),
    public_url: `tcp://${text}.tcp.us.localhost:10001`,
    proto: 'tcp' as const,
    hostport: `${text}.tcp.us.localhost:10001`,
    type: 'ephemeral' as const,
    tunnel: id('tn', text),
  })),
};

/** The local agents of every world, and where each is. */
export const agentNames = ['agent-a', 'agent-b'] as const;
export const originOf = (agent: string): string => `http://${agent}.sim:4040`;

import { type Deed, type Manifest, mainKey } from '../core/story.ts';
import { surroundings } from '../core/surroundings.ts';

const apiVersion = 'edge-operator.dev/v1alpha1';
export const namespace = 'team-a';

/** The n-th resource of a kind, from 0; none asks for what another one has. */
const specs: Readonly<Record<string, (n: number) => object>> = {
  CloudAccount: () => ({ apiKeySecretRef: { name: 'key', key: 'key' } }),
  ReservedAddr: (n) => ({ description: `address ${n}`, metadata: `{"n":${n}}` }),
  BotUser: (n) => ({ name: `bot ${n}` }),
  HttpsRouteModules: (n) => ({
    edgeID: surroundings.httpsEdges[n]?.id,
    routeID: surroundings.httpsEdges[n]?.routes[0],
    compression: {},
    ipRestriction: { ipPolicyIDs: [surroundings.ipPolicies[0]] },
  }),
  HttpsEdgeModules: (n) => ({ edgeID: surroundings.httpsEdges[n]?.id, tlsTermination: { minVersion: '1.2' } }),
  TlsEdgeTrafficPolicy: (n) => ({
    edgeID: surroundings.tlsEdges[n],
    policy: { inbound: [{ name: `deny ${n}`, expressions: [], actions: [{ type: 'deny' }] }] },
  }),
  Agent: () => ({ url: 'http://agent-a.sim:4040' }),
  AgentTunnel: (n) => ({ agentRef: { name: 'agent-0' }, proto: 'http', addr: String(8080 + n) }),
  RequestReplay: () => ({ agentRef: { name: 'agent-0' }, requestID: '{{foreign:captured}}' }),
};

export function manifestOf(kind: string, n: number): Manifest {
  const spec = specs[kind]?.(n);
  if (spec === undefined) throw new Error(`nobody has many of the kind ${kind}`);
  return { apiVersion, kind, metadata: { name: `${kind.toLowerCase()}-${n}`, namespace }, spec };
}

/** So many of each kind. */
export function manifestsOf(counts: Readonly<Record<string, number>>): readonly Manifest[] {
  return Object.entries(counts).flatMap(([kind, count]) =>
    Array.from({ length: count }, (_, n) => manifestOf(kind, n)),
  );
}

/** The Secret of the CloudAccount. */
export const accountSecret: Deed = {
  do: 'apply',
  object: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key', namespace }, stringData: { key: mainKey } },
};

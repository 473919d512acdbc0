import type { CloudSpec, Deed, Manifest } from '../core/story.ts';
import { mainKey } from '../core/story.ts';
import { surroundings } from '../core/surroundings.ts';

/** The lives of a resource, one after the other in the table. */
export const lives = ['create', 'update', 'delete', 'import', 'part removed', 'account changed', 'pause'] as const;
export type Life = (typeof lives)[number];

/** What a kind brings to its lives. */
export interface Subject {
  readonly kind: string;
  /** What it needs, and has before its life begins. */
  readonly needs: readonly Deed[];
  readonly manifest: Manifest;
  /** Merge patches: another wish, without one of its parts, in another account. */
  readonly edit?: object;
  readonly partRemoved?: object;
  readonly moved?: object;
  /** What is moved where it is not the spec. */
  readonly movedBy?: Deed;
  /** Made by hand before the resource that takes it over. */
  readonly existing?: Deed;
  /** Which id it imports. */
  readonly imports?: string;
  readonly cloud?: CloudSpec;
  /** Lives that make no sense for it, and why. */
  readonly without: Partial<Record<Life, string>>;
}

const apiVersion = 'edge-operator.dev/v1alpha1';
const namespace = 'team-a';
const rotatedKey = 'rotated-key-CANARY-0';

const manifest = (kind: string, spec: object, name = 'x'): Manifest => ({
  apiVersion,
  kind,
  metadata: { name, namespace },
  spec,
});

const secret = (key: string): Deed => ({
  do: 'apply',
  object: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key', namespace }, stringData: { key } },
});

const account = manifest('CloudAccount', { apiKeySecretRef: { name: 'key', key: 'key' } }, 'other');
const otherAccount: readonly Deed[] = [secret(rotatedKey), { do: 'apply', object: account }];
const inOtherAccount = { spec: { accountRef: { name: 'other' } } };
const twoAccounts: CloudSpec = { apiKeys: [`main=${mainKey}`, `other=${rotatedKey}`] };

const noParts = 'it has no parts';

const edge = surroundings.httpsEdges[0];
const edgeID = edge?.id ?? '';
const routeID = edge?.routes[0] ?? '';
const tlsEdgeID = surroundings.tlsEdges[0] ?? '';
const [policyA, policyB] = surroundings.ipPolicies;
const [authorityA, authorityB] = surroundings.certificateAuthorities;
const deny = { inbound: [{ name: 'deny', expressions: [], actions: [{ type: 'deny' }] }] };
const log = { inbound: [{ name: 'log', expressions: [], actions: [{ type: 'log' }] }] };

const cloudKinds: readonly Subject[] = [
  {
    kind: 'ReservedAddr',
    needs: [],
    manifest: manifest('ReservedAddr', { description: 'a', metadata: 'a' }),
    edit: { spec: { description: 'b' } },
    moved: inOtherAccount,
    existing: {
      do: 'cloud',
      name: 'existing',
      method: 'POST',
      path: '/reserved_addrs',
      body: { description: 'by hand' },
    },
    imports: '{{foreign:existing}}',
    without: { 'part removed': noParts },
  },
  {
    kind: 'BotUser',
    needs: [],
    manifest: manifest('BotUser', { name: 'a' }),
    edit: { spec: { active: false } },
    moved: inOtherAccount,
    existing: { do: 'cloud', name: 'existing', method: 'POST', path: '/bot_users', body: { name: 'by hand' } },
    imports: '{{foreign:existing}}',
    without: { 'part removed': noParts },
  },
  {
    kind: 'HttpsRouteModules',
    needs: [],
    manifest: manifest('HttpsRouteModules', {
      edgeID,
      routeID,
      compression: {},
      ipRestriction: { ipPolicyIDs: [policyA] },
    }),
    edit: { spec: { ipRestriction: { ipPolicyIDs: [policyA, policyB] } } },
    partRemoved: { spec: { compression: null } },
    moved: inOtherAccount,
    existing: {
      do: 'cloud',
      method: 'PUT',
      path: `/edges/https/${edgeID}/routes/${routeID}/compression`,
      body: { enabled: true },
    },
    without: {},
  },
  {
    kind: 'HttpsEdgeModules',
    needs: [],
    manifest: manifest('HttpsEdgeModules', {
      edgeID,
      mutualTLS: { certificateAuthorityIDs: [authorityA] },
      tlsTermination: { minVersion: '1.2' },
    }),
    edit: { spec: { mutualTLS: { certificateAuthorityIDs: [authorityA, authorityB] } } },
    partRemoved: { spec: { mutualTLS: null } },
    moved: inOtherAccount,
    existing: {
      do: 'cloud',
      method: 'PUT',
      path: `/edges/https/${edgeID}/tls_termination`,
      body: { enabled: true, min_version: '1.2' },
    },
    without: {},
  },
  {
    kind: 'TlsEdgeTrafficPolicy',
    needs: [],
    manifest: manifest('TlsEdgeTrafficPolicy', { edgeID: tlsEdgeID, policy: deny }),
    edit: { spec: { policy: log } },
    moved: inOtherAccount,
    existing: {
      do: 'cloud',
      method: 'PUT',
      path: `/edges/tls/${tlsEdgeID}/traffic_policy`,
      body: { enabled: true, value: JSON.stringify(deny) },
    },
    without: { 'part removed': 'it has one part, without which there is no resource' },
  },
  {
    kind: 'CloudAccount',
    needs: [secret(mainKey)],
    manifest: manifest('CloudAccount', {
      apiKeySecretRef: { name: 'key', key: 'key' },
      endpointMirror: { protocols: ['tcp'] },
    }),
    edit: { spec: { endpointMirror: { protocols: ['tcp', 'tls'], intervalSeconds: 60 } } },
    movedBy: secret(rotatedKey),
    // The same account: what its users made stays theirs.
    cloud: { apiKeys: [`main=${mainKey}`, `main=${rotatedKey}`] },
    without: { import: 'an account is not made, only named', 'part removed': noParts },
  },
];

const agent = manifest('Agent', { url: 'http://agent-a.sim:4040' }, 'agent-a');
const otherAgent = manifest('Agent', { url: 'http://agent-b.sim:4040' }, 'agent-b');
const noImport = 'what runs in an agent has no id to import: somebody else’s tunnel of that name is a conflict';

const agentKinds: readonly Subject[] = [
  {
    kind: 'Agent',
    needs: [],
    manifest: manifest('Agent', { url: 'http://agent-a.sim:4040' }),
    edit: { spec: { url: 'http://agent-b.sim:4040' } },
    without: {
      import: 'an agent is not made, only named',
      'part removed': noParts,
      'account changed': 'it names no account; another address is its update',
    },
  },
  {
    kind: 'AgentTunnel',
    needs: [agent, otherAgent].map((object) => ({ do: 'apply', object })),
    manifest: manifest('AgentTunnel', { agentRef: { name: 'agent-a' }, proto: 'http', addr: '8080' }),
    edit: { spec: { addr: '9090' } },
    moved: { spec: { agentRef: { name: 'agent-b' } } },
    without: { import: noImport, 'part removed': noParts },
  },
  {
    kind: 'RequestReplay',
    needs: [
      { do: 'apply', object: agent },
      {
        do: 'apply',
        object: manifest('AgentTunnel', { agentRef: { name: 'agent-a' }, proto: 'http', addr: '8080' }, 'web'),
      },
      { do: 'capture', agent: 'agent-a', tunnel: 'web', name: 'captured' },
    ],
    manifest: manifest('RequestReplay', { agentRef: { name: 'agent-a' }, requestID: '{{foreign:captured}}' }),
    without: {
      update: 'it cannot be changed',
      delete: 'it leaves nothing to delete',
      import: 'it is done, not made',
      'part removed': noParts,
      'account changed': 'it cannot be changed',
    },
  },
];

export const subjects: readonly Subject[] = [...cloudKinds, ...agentKinds];
export { otherAccount, twoAccounts };

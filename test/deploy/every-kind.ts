import { expect } from '@jest/globals';
import { definitions } from '../../src/operator/kinds/index.ts';
import type { KubeObject, ResourceType } from '../../src/operator/kube/types.ts';
import type { ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import { type LocalServer, startLocal, startTestAgent, type TestAgent } from '../agent/support.ts';
import { until } from '../support/until.ts';
import { namespaceType, type World } from '../support/world.ts';

const serviceType: ResourceType = { ...namespaceType, plural: 'services', kind: 'Service', namespaced: true };

export const endpoint = {
  id: 'ep_1',
  region: 'us',
  public_url: 'tcp://1.tcp.localhost:1',
  proto: 'tcp',
  hostport: '1.tcp.localhost:1',
  type: 'ephemeral',
  tunnel: 'tn_1',
} as const;

/** The least that uses all that the operator can do in a namespace: a resource of each kind, and what they refer to. */
export interface EveryKind {
  readonly agent: TestAgent;
  /** What resources refer to, in the cloud and in the namespace. */
  prepare(world: World, namespace: string): Promise<void>;
  /** One of each kind, named `cloud`. */
  apply(world: World, namespace: string, options: { readonly mirrors: boolean }): Promise<readonly ManagedObject[]>;
  close(): Promise<void>;
}

/** With an agent that has captured a request. */
export async function startEveryKind(): Promise<EveryKind> {
  const [local, agent] = await Promise.all([startLocal((_, response) => response.end()), startTestAgent()]);
  const tunnel = await agent.tunnel({ name: 'captured', proto: 'http', addr: local.addr });
  await agent.visit(tunnel.public_url);
  const captured = await until('the capture', async () => (await agent.captures())[0]?.id);
  let times = 0;
  return {
    agent,
    prepare,
    apply: (world, namespace, { mirrors }) => {
      const specs = specsOf({ agent, local, captured, tunnelName: `of-${process.pid}-${times++}`, mirrors });
      return applyAll(world, namespace, specs);
    },
    close: async () => {
      await agent.close();
      await local.stop();
    },
  };
}

async function prepare(world: World, namespace: string): Promise<void> {
  world.cloud.seed({
    endpoints: [endpoint],
    https_edges: [{ id: 'edghts_1', routes: ['edghtsrt_1'] }],
    tls_edges: ['edgtls_1'],
  });
  await world.give('Secret', namespace, 'hooks', { key: 'secret' });
  await world.give('Secret', namespace, 'cloud', { key: world.cloud.apiKey });
  await world.give('ConfigMap', namespace, 'policy', { policy: '{"inbound":[]}' });
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'agent', namespace },
    spec: { selector: { app: 'a' }, ports: [{ port: 4040, targetPort: 4040, protocol: 'TCP' }] },
  };
  await world.client.create<KubeObject>(serviceType, service);
  await world.apply('Agent', namespace, 'behind-a-service', { serviceRef: { name: 'agent' } });
  // Any Secret that may be read may be the key of an account.
  await world.apply('CloudAccount', namespace, 'refused', { apiKeySecretRef: { name: 'hooks', key: 'key' } });
}

type Specs = Readonly<Record<string, object>>;

function specsOf(from: {
  readonly agent: TestAgent;
  readonly local: LocalServer;
  readonly captured: string;
  readonly tunnelName: string;
  readonly mirrors: boolean;
}): Specs {
  const { agent, local, captured, tunnelName, mirrors } = from;
  const agentRef = { name: 'cloud' };
  const hook = { provider: 'github', secretRef: { name: 'hooks', key: 'key' } };
  const policy = { configMapKeyRef: { name: 'policy', key: 'policy' } };
  return {
    CloudAccount: {
      apiKeySecretRef: { name: 'cloud', key: 'key' },
      ...(mirrors ? { endpointMirror: { intervalSeconds: 10 } } : {}),
    },
    ReservedAddr: { accountRef: { name: 'cloud' } },
    BotUser: { name: 'bot' },
    HttpsRouteModules: { edgeID: 'edghts_1', routeID: 'edghtsrt_1', webhookVerification: hook },
    HttpsEdgeModules: { edgeID: 'edghts_1', tlsTermination: { minVersion: '1.3' } },
    TlsEdgeTrafficPolicy: { edgeID: 'edgtls_1', policyFrom: policy },
    Agent: { url: agent.url },
    AgentTunnel: { agentRef, tunnelName, proto: 'http', addr: local.addr },
    RequestReplay: { agentRef, requestID: captured },
  };
}

async function applyAll(world: World, namespace: string, specs: Specs): Promise<readonly ManagedObject[]> {
  expect(Object.keys(specs).sort()).toEqual(definitions.map((definition) => definition.type.kind).sort());
  // A replay that goes at once, beside one that stays.
  await world.apply('RequestReplay', namespace, 'brief', { ...specs.RequestReplay, ttlSecondsAfterFinished: 0 });
  return Promise.all(Object.entries(specs).map(([kind, spec]) => world.apply(kind, namespace, 'cloud', spec)));
}

import { AgentClient } from '../agent-client/client.ts';
import { systemClock } from '../clock.ts';
import type { KubeClient } from '../kube/client.ts';
import { type ConfigMap, configMapType } from '../mirror/config-map.ts';
import { userAgent } from '../version.ts';
import { visit } from './visit.ts';

const pollMs = 100;

/** What became of a request through a tunnel, from the public URL to the cluster. */
export interface RequestPath {
  readonly publicURL: string;
  /** What the app answered. */
  readonly answer: string;
  /** Name of the ConfigMap that mirrors the endpoint. */
  readonly configMap: string;
}

export interface RequestPathOptions {
  readonly agentURL: string;
  readonly tunnel: string;
  readonly client: KubeClient;
  /** Of the mirror. */
  readonly namespace: string;
}

/** Sends a request through the tunnel and follows it. Rejects when `signal` aborts before all of it is seen. */
export async function followRequest(options: RequestPathOptions, signal: AbortSignal): Promise<RequestPath> {
  const { agentURL, tunnel: tunnelName } = options;
  const agent = new AgentClient({ url: agentURL, userAgent });
  try {
    const { public_url: publicURL } = await found(() => agent.getTunnel(tunnelName), signal);
    const answer = await visit(`${publicURL}/hello`);
    await found(
      async () => (await agent.listRequests({ limit: 1, tunnelName })).requests[0]?.response ?? undefined,
      signal,
    );
    const { metadata } = await found(() => mirrored(options, publicURL), signal);
    return { publicURL, answer, configMap: metadata.name };
  } finally {
    await agent.close();
  }
}

async function mirrored({ client, namespace }: RequestPathOptions, publicURL: string): Promise<ConfigMap | undefined> {
  const labelSelector = 'edge-operator.dev/mirror=endpoints,edge-operator.dev/type=ephemeral';
  const { items } = await client.listAll<ConfigMap>(configMapType, { namespace, labelSelector });
  return items.find(({ data }) => data?.public_url === publicURL);
}

async function found<T>(look: () => Promise<T | undefined>, signal: AbortSignal): Promise<T> {
  for (;;) {
    const result = await look();
    if (result !== undefined) return result;
    await systemClock.sleep(pollMs, signal);
  }
}

import { systemClock } from '../../common/clock.ts';
import { systemRuntime } from '../../common/runtime.ts';
import { userAgent } from '../../common/version.ts';
import { AgentClient } from '../../operator/agent-client/client.ts';
import type { KubeClient } from '../../operator/kube/client.ts';
import { configMapType, type KubeObject } from '../../operator/kube/types.ts';
import { conditionOf, type ManagedObject } from '../../operator/reconcile/resource/resource.ts';
import { apply, type Sample } from './samples.ts';
import { visit } from './visit.ts';

const pollMs = 100;

/** What became of a request through a tunnel, from the public URL to the cluster. */
export interface RequestPath {
  readonly publicURL: string;
  /** What the app answered. */
  readonly answer: string;
  /** Name of the ConfigMap that mirrors the endpoint. */
  readonly configMap: string;
  /** Name of the RequestReplay that sent it once more. */
  readonly replay: string;
}

export interface RequestPathOptions {
  readonly agentURL: string;
  readonly tunnel: string;
  readonly client: KubeClient;
  /** Of the mirror. */
  readonly namespace: string;
  /** A RequestReplay, but for the id of the request. */
  readonly replay: Sample;
}

/**
 * Sends a request through the tunnel and follows it, then has it replayed. Rejects when `signal` aborts before all of
 * it is seen.
 */
export async function followRequest(options: RequestPathOptions, signal: AbortSignal): Promise<RequestPath> {
  const { agentURL, tunnel: tunnelName } = options;
  const agent = new AgentClient({ ...systemRuntime, url: agentURL, userAgent });
  try {
    const { public_url: publicURL } = await found(() => agent.getTunnel(tunnelName), signal);
    const answer = await visit(`${publicURL}/hello`);
    const captured = async () => (await agent.listRequests({ limit: 1, tunnelName })).requests[0];
    const { id } = await found(captured, signal);
    const replay = await replayed(options, id, signal);
    const { metadata } = await found(() => mirrored(options, publicURL), signal);
    return { publicURL, answer, configMap: metadata.name, replay };
  } finally {
    await agent.close();
  }
}

async function replayed(
  { client, replay }: RequestPathOptions,
  requestID: string,
  signal: AbortSignal,
): Promise<string> {
  const { type, object } = replay;
  const spec = { ...(object as ManagedObject).spec, requestID };
  const { metadata } = await apply(client, { type, object: { ...object, spec } as KubeObject });
  await found(async () => {
    const current = await client.get<ManagedObject>(type, metadata);
    return current && conditionOf(current, 'Complete')?.status === 'True' ? true : undefined;
  }, signal);
  return metadata.name;
}

async function mirrored({ client, namespace }: RequestPathOptions, publicURL: string): Promise<KubeObject | undefined> {
  const labelSelector = 'edge-operator.dev/mirror=endpoints,edge-operator.dev/type=ephemeral';
  const { items } = await client.listAll<KubeObject & { readonly data?: Readonly<Record<string, string>> }>(
    configMapType,
    { namespace, labelSelector },
  );
  return items.find(({ data }) => data?.public_url === publicURL);
}

async function found<T>(look: () => Promise<T | undefined>, signal: AbortSignal): Promise<T> {
  for (;;) {
    const result = await look();
    if (result !== undefined) return result;
    await systemClock.sleep(pollMs, signal);
  }
}

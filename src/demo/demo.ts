import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../clock.ts';
import { packageFile } from '../commands/package-files.ts';
import { KubeClient } from '../kube/client.ts';
import { connect } from '../kube/connection.ts';
import type { KubeObject } from '../kube/types.ts';
import type { ManagedObject } from '../reconcile/fields.ts';
import { silentLog } from '../telemetry/log.ts';
import { userAgent } from '../version.ts';
import { followRequest, type RequestPath } from './request-path.ts';
import { readSamples, type Sample } from './samples.ts';
import { LiveTable, rowOf } from './table.ts';
import { startWorld, type World } from './world.ts';

/** Ctrl-C, a plain kill, and a terminal that is closed. */
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const deadlineMs = 60_000;
const pollMs = 150;
const namespace = 'default';
/** Resolves with whether every sample became Ready in time; without `once` only after Ctrl-C. */
export async function runDemo({ once }: { readonly once: boolean }): Promise<boolean> {
  const stop = new AbortController();
  const interrupt = () => stop.abort();
  for (const name of endings) process.once(name, interrupt);
  await using stack = new AsyncDisposableStack();
  stack.defer(() => endings.forEach((name) => void process.off(name, interrupt)));
  const dir = await mkdtemp(join(tmpdir(), 'edge-operator-demo-'));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  return await present(await startWorld(dir, stack), once, stop.signal);
}

async function present(world: World, once: boolean, stop: AbortSignal): Promise<boolean> {
  const connection = await connect({ kubeconfig: world.kubeconfig, userAgent, log: silentLog });
  try {
    const client = new KubeClient(connection);
    const samples = (await readSamples(packageFile('deploy', 'samples'), namespace))
      .filter(({ object }) => object.kind !== 'RequestReplay')
      .map((sample) => atHome(sample, world));
    await apply(client, secretOf(world.stagingKey));
    await Promise.all(samples.map((sample) => apply(client, sample)));
    const table = new LiveTable(process.stdout);
    const inTime = AbortSignal.any([stop, AbortSignal.timeout(deadlineMs)]);
    const ready = await showUntilReady(client, samples, table, inTime);
    const path = ready ? await pathOf(world, client, inTime) : undefined;
    if (stop.aborted) return false;
    table.detach();
    process.stdout.write(`\n${summary(ready, path)}`);
    if (!once) {
      process.stdout.write(invitation(world, path));
      await showUntil(client, samples, table, stop);
    }
    return path !== undefined;
  } finally {
    await connection.close();
  }
}

/** Samples that name addresses of a cluster name those of the demo instead. */
function atHome({ type, object }: Sample, { agentURL, appAddr }: World): Sample {
  const { spec } = object as ManagedObject;
  const specs: Readonly<Record<string, object>> = { Agent: { url: agentURL }, AgentTunnel: { ...spec, addr: appAddr } };
  return { type, object: { ...object, spec: specs[type.kind] ?? spec } as KubeObject };
}

/** What deploy/samples/cloudaccount.yaml refers to; a sample itself holds no secret. */
function secretOf(key: string): Sample {
  const type = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true };
  const metadata = { name: 'staging-edge', namespace };
  return { type, object: { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { 'api-key': key } } as KubeObject };
}

function apply(client: KubeClient, { type, object }: Sample): Promise<unknown> {
  const patch = { type: 'apply', body: object, fieldManager: 'edge-operator-demo' } as const;
  return client.patch(type, object.metadata, patch);
}

async function showUntilReady(client: KubeClient, samples: readonly Sample[], table: LiveTable, stop: AbortSignal) {
  for (;;) {
    const rows = await readRows(client, samples);
    table.show(rows);
    if (rows.length >= samples.length && rows.every((row) => row.ready === 'True')) return true;
    if (stop.aborted) return false;
    await systemClock.sleep(pollMs, stop).catch(() => {});
  }
}

async function showUntil(client: KubeClient, samples: readonly Sample[], table: LiveTable, stop: AbortSignal) {
  while (!stop.aborted) {
    table.show(await readRows(client, samples));
    await systemClock.sleep(pollMs, stop).catch(() => {});
  }
}

/** Every resource of the samples' kinds, also what the user made since. */
async function readRows(client: KubeClient, samples: readonly Sample[]) {
  const types = [...new Set(samples.map((sample) => sample.type))];
  const lists = await Promise.all(types.map((type) => client.listAll<ManagedObject>(type)));
  return lists.flatMap((list) => list.items.map(rowOf));
}

/** Undefined when not all of it was seen in time. */
async function pathOf({ agentURL }: World, client: KubeClient, inTime: AbortSignal): Promise<RequestPath | undefined> {
  try {
    return await followRequest({ agentURL, tunnel: 'shop', client, namespace }, inTime);
  } catch (error) {
    if (!inTime.aborted) process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    return undefined;
  }
}

function summary(ready: boolean, path: RequestPath | undefined): string {
  if (!ready) return 'Not everything became Ready within a minute; the log says why.\n';
  if (path === undefined) return 'Everything is Ready, but no request came through the tunnel; the log says why.\n';
  return `Everything is Ready, and a request went through the tunnel:

  asked      ${path.publicURL}/hello
  answered   ${path.answer}
  mirrored   ConfigMap ${namespace}/${path.configMap}
`;
}

function invitation({ kubeconfig, cloudURL, agentURL, logFile }: World, path: RequestPath | undefined): string {
  const curl = path === undefined ? '' : `  curl ${path.publicURL}\n`;
  return `
See the request on the inspector page: ${agentURL}
Try it from another terminal:

  export KUBECONFIG=${kubeconfig}
${curl}  kubectl get edge
  kubectl get configmaps -l edge-operator.dev/mirror=endpoints
  kubectl explain ra.spec
  kubectl patch ra db --type merge -p '{"spec":{"description":"changed"}}'
  kubectl describe ra db
  kubectl delete bot deployer

Cloud: ${cloudURL}   Log: ${logFile}
Ctrl-C ends everything.

`;
}

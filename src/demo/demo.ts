import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../clock.ts';
import { packageFile } from '../commands/package-files.ts';
import { parseSettings } from '../config.ts';
import { KubeClient } from '../kube/client.ts';
import { connect } from '../kube/connection.ts';
import type { KubeObject } from '../kube/types.ts';
import { runOperator } from '../operator.ts';
import type { ManagedObject } from '../reconcile/fields.ts';
import { defaultSeed } from '../reference/cloud-api/seed/default.ts';
import { startCloudApi } from '../reference/cloud-api/server.ts';
import { loadCrds, startKubeApi } from '../reference/kube-api/server.ts';
import { silentLog } from '../telemetry/log.ts';
import { createLogger } from '../telemetry/logger.ts';
import { userAgent } from '../version.ts';
import { readSamples, type Sample } from './samples.ts';
import { LiveTable, rowOf } from './table.ts';

/** Ctrl-C, a plain kill, and a terminal that is closed. */
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const deadlineMs = 60_000;
const pollMs = 150;
const namespace = 'default';
/** Kinds whose samples need an agent, which the demo does not run. */
const withoutAgent: ReadonlySet<string> = new Set(['Agent', 'AgentTunnel']);

interface World {
  readonly kubeconfig: string;
  readonly cloudURL: string;
  readonly logFile: string;
  /** The key of the account that a sample brings along. */
  readonly stagingKey: string;
}

/** Resolves with whether every sample became Ready in time; without `once` only after Ctrl-C. */
export async function runDemo({ once }: { readonly once: boolean }): Promise<boolean> {
  const stop = new AbortController();
  const interrupt = () => stop.abort();
  for (const name of endings) process.once(name, interrupt);
  const dir = await mkdtemp(join(tmpdir(), 'edge-operator-demo-'));
  const cleanups: (() => Promise<unknown>)[] = [() => rm(dir, { recursive: true, force: true })];
  try {
    const world = await startWorld(dir, cleanups);
    return await present(world, once, stop.signal);
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup();
    for (const name of endings) process.off(name, interrupt);
  }
}

/** The Kubernetes API, the cloud and the operator, on free loopback ports. */
async function startWorld(dir: string, cleanups: (() => Promise<unknown>)[]): Promise<World> {
  const [apiKey, stagingKey] = [`demo-${randomUUID()}`, `demo-${randomUUID()}`];
  const [kube, cloud] = await Promise.all([
    startKubeApi({ crds: await loadCrds(packageFile('crds')) }),
    startCloudApi({ apiKeys: [apiKey, stagingKey], seeds: [defaultSeed] }),
  ]);
  cleanups.push(
    () => kube.close(),
    () => cloud.close(),
  );
  const logFile = join(dir, 'operator.log');
  const world = { kubeconfig: join(dir, 'kubeconfig'), cloudURL: cloud.url, logFile, stagingKey };
  await writeFile(world.kubeconfig, kube.kubeconfig(), { mode: 0o600 });
  const settings = parseSettings({
    kubeconfig: world.kubeconfig,
    apiUrl: cloud.url,
    metricsAddr: '127.0.0.1:0',
    healthAddr: '127.0.0.1:0',
    resyncInterval: '30s',
  });
  const log = createLogger({ level: 'info', format: 'text', stream: createWriteStream(world.logFile) });
  const operatorStop = new AbortController();
  const operator = runOperator({ settings, apiKey, log }, operatorStop.signal);
  cleanups.push(() => {
    operatorStop.abort();
    return operator;
  });
  return world;
}

async function present(world: World, once: boolean, stop: AbortSignal): Promise<boolean> {
  const connection = await connect({ kubeconfig: world.kubeconfig, userAgent, log: silentLog });
  try {
    const client = new KubeClient(connection);
    const all = await readSamples(packageFile('deploy', 'samples'), namespace);
    const samples = all.filter(({ type }) => !withoutAgent.has(type.kind));
    await apply(client, secretOf(world.stagingKey));
    await Promise.all(samples.map((sample) => apply(client, sample)));
    const table = new LiveTable(process.stdout);
    const ready = await showUntilReady(client, samples, table, stop);
    if (once && ready) process.stdout.write('Everything is Ready.\n');
    if (once || stop.aborted) return ready;
    table.detach();
    process.stdout.write(invitation(world, ready));
    await showUntil(client, samples, table, stop);
    return ready;
  } finally {
    await connection.close();
  }
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
  const deadline = systemClock.now() + deadlineMs;
  for (;;) {
    const rows = await readRows(client, samples);
    table.show(rows);
    if (rows.length >= samples.length && rows.every((row) => row.ready === 'True')) return true;
    if (stop.aborted || systemClock.now() > deadline) return false;
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

function invitation(world: World, ready: boolean): string {
  const state = ready ? 'Everything is Ready.' : 'Not everything became Ready within a minute; the log says why.';
  return `
${state} Try it from another terminal:

  export KUBECONFIG=${world.kubeconfig}
  kubectl get edge
  kubectl get configmaps -l edge-operator.dev/mirror=endpoints
  kubectl explain ra.spec
  kubectl patch ra db --type merge -p '{"spec":{"description":"changed"}}'
  kubectl describe ra db
  kubectl delete bot deployer

Cloud: ${world.cloudURL}   Operator log: ${world.logFile}
Ctrl-C ends everything.

`;
}

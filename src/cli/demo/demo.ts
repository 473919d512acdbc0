import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../common/clock.ts';
import { silentLog } from '../../common/log.ts';
import { systemRuntime } from '../../common/runtime.ts';
import { userAgent } from '../../common/version.ts';
import { KubeClient } from '../../operator/kube/client.ts';
import { connect } from '../../operator/kube/connection.ts';
import type { ManagedObject } from '../../operator/reconcile/resource/resource.ts';
import { announcements } from '../announce.ts';
import { packageFile } from '../package-files.ts';
import { stopSignals } from '../stop-signal.ts';
import { followRequest, type RequestPath } from './request-path.ts';
import { apply, atHome, readSamples, type Sample, secretOf } from './samples.ts';
import { LiveTable, rowOf } from './table.ts';
import { invitation, summary } from './text.ts';
import { startWorld, type World } from './world.ts';

const deadlineMs = 60_000;
const pollMs = 150;
const namespace = 'default';

/** Resolves with whether every sample became Ready in time; without `once` only after Ctrl-C. */
export async function runDemo({ once }: { readonly once: boolean }): Promise<boolean> {
  const stop = new AbortController();
  const interrupt = () => stop.abort();
  for (const name of stopSignals) process.once(name, interrupt);
  await using stack = new AsyncDisposableStack();
  stack.defer(() => stopSignals.forEach((name) => void process.off(name, interrupt)));
  const dir = await mkdtemp(join(tmpdir(), 'edge-operator-demo-'));
  let keepLog = false;
  stack.defer(() => (keepLog ? undefined : rm(dir, { recursive: true, force: true })));
  const shown = await present(await startWorld(dir, stack), once, stop.signal);
  keepLog = once && !shown && !stop.signal.aborted;
  return shown;
}

async function present(world: World, once: boolean, stop: AbortSignal): Promise<boolean> {
  const connection = await connect({ ...systemRuntime, kubeconfig: world.kubeconfig, userAgent, log: silentLog });
  try {
    const client = new KubeClient(connection, systemRuntime);
    const all = await readSamples(packageFile('deploy', 'samples'), namespace);
    const [replay] = all.filter(({ object }) => object.kind === 'RequestReplay');
    const samples = all.filter((sample) => sample !== replay).map((sample) => atHome(sample, world));
    await apply(client, secretOf(world.stagingKey, namespace));
    await Promise.all(samples.map((sample) => apply(client, sample)));
    const out = announcements();
    const { stdout } = process;
    const write = (text: string) => out.write(text);
    const table = new LiveTable({ isTTY: stdout.isTTY, write, columns: () => stdout.columns });
    const inTime = AbortSignal.any([stop, AbortSignal.timeout(deadlineMs)]);
    const ready = await showUntilReady(client, samples, table, inTime);
    const path = ready && replay !== undefined ? await pathOf(world, client, replay, inTime) : undefined;
    if (stop.aborted) return false;
    table.detach();
    out.write(`\n${summary(ready, path, { namespace, logFile: world.logFile })}`);
    if (!once) {
      out.write(invitation(world, path));
      await showUntil(client, samples, table, stop);
    }
    return path !== undefined;
  } finally {
    await connection.close();
  }
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
async function pathOf(
  { agentURL }: World,
  client: KubeClient,
  replay: Sample,
  inTime: AbortSignal,
): Promise<RequestPath | undefined> {
  try {
    return await followRequest({ agentURL, tunnel: 'shop', client, namespace, replay }, inTime);
  } catch (error) {
    if (!inTime.aborted) process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    return undefined;
  }
}

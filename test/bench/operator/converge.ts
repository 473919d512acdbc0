import { type Counts, since } from './servers.ts';
import { setStage } from './stage.ts';
import type { Subject } from './subjects.ts';

/** What it took to make resources Ready that were there before the process. */
export interface Convergence {
  /** From the start of the process to the last Ready, and to the first create; milliseconds. */
  readonly readyMs: number;
  readonly firstPostMs: number;
  readonly cpuSeconds: number;
  readonly peakRss: number;
  /** Kubernetes writes and cloud calls, by name. */
  readonly writes: Counts;
  readonly calls: Counts;
  /** Creates beyond one a resource. */
  readonly duplicates: number;
}

const timeoutMs = 600_000;

export async function converge(subject: Subject, count: number): Promise<Convergence> {
  await using stage = await setStage();
  const { kube, cloud, resources } = stage;
  await resources.create(0, count);
  const before = await kube.writes();
  const ready = resources.whenReady(count, timeoutMs);
  const startedAt = Date.now();
  await using running = await subject.start(kube, cloud, count);
  await ready;
  const readyMs = Date.now() - startedAt;
  const { cpuSeconds, peakRss } = await running.figures();
  const { calls, arrivals } = await cloud.calls();
  const firstPost = arrivals.find(([name]) => name.startsWith('POST '))?.[1] ?? Number.NaN;
  await running.stop();
  const { 'POST reserved_addrs': creates = 0 } = calls;
  const figures = { readyMs, firstPostMs: firstPost - startedAt, cpuSeconds, peakRss };
  return { ...figures, calls, writes: since(before, await kube.writes()), duplicates: creates - count };
}

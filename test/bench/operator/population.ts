import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../support/until.ts';
import { quantile } from './figures.ts';
import type { Resources } from './resources.ts';
import { type Cloud, type Counts, type Kube, since } from './servers.ts';
import { setStage } from './stage.ts';
import type { Running, Subject } from './subjects.ts';

/** What an operator is like that starts where so many resources are Ready already. */
export interface Population {
  readonly count: number;
  /** In MB: once it is quiet, and at most on the way there. */
  readonly rss: number;
  readonly peakRss: number;
  /** From the start of the process to the create of a resource that is new. */
  readonly firstPostMs: number;
  readonly startCpuSeconds: number;
  /** Of a quiet minute. */
  readonly idleCpuSeconds: number;
  /** From an edit to the first call that it makes, in milliseconds. */
  readonly editP50: number;
  readonly editP99: number;
  /** Of the start alone: nothing has changed but the new resource. */
  readonly writes: Counts;
  readonly calls: Counts;
}

export interface PopulationOptions {
  readonly edits: number;
  /** After the start, in which garbage is collected once more and memory given back. */
  readonly settleMs: number;
  /** For which CPU time is measured when nothing happens. */
  readonly quietMs: number;
}

/** One after the other, in a population that grows. */
export async function populations(
  subject: Subject,
  counts: readonly number[],
  options: PopulationOptions,
): Promise<readonly Population[]> {
  await using stage = await setStage();
  const { kube, cloud, resources } = stage;
  // What others are to be like, by the operator itself.
  await resources.create(0, 1);
  await using first = await subject.start(kube, cloud, 1);
  await resources.whenReady(1, 60_000);
  const like = await resources.get(0);
  await first.stop();
  const found: Population[] = [];
  let made = 1;
  for (const count of counts) {
    await resources.createReady(made, Math.max(made, count), like);
    made = Math.max(made, count);
    found.push(await populated(subject, { kube, cloud, resources, count: made }, options));
    made += 1;
  }
  return found;
}

interface Populated {
  readonly kube: Kube;
  readonly cloud: Cloud;
  readonly resources: Resources;
  readonly count: number;
}

async function populated(
  subject: Subject,
  { kube, cloud, resources, count }: Populated,
  { edits, settleMs, quietMs }: PopulationOptions,
): Promise<Population> {
  await resources.create(count, count + 1);
  await cloud.calls();
  const before = await kube.writes();
  const startedAt = Date.now();
  await using running = await subject.start(kube, cloud, 1);
  const { calls, firstPostAt } = await whenQuiet(cloud, running);
  const writes = since(before, await kube.writes());
  const { cpuSeconds: startCpuSeconds } = await running.figures();
  await sleep(settleMs);
  const { cpuSeconds } = await running.figures();
  await sleep(quietMs);
  const quiet = await running.figures();
  const delays = await editsOf(resources, cloud, Math.min(edits, count));
  const { peakRss } = await running.figures();
  await running.stop();
  return {
    count,
    rss: quiet.rss,
    peakRss,
    firstPostMs: firstPostAt - startedAt,
    startCpuSeconds,
    idleCpuSeconds: ((quiet.cpuSeconds - cpuSeconds) / quietMs) * 60_000,
    editP50: quantile(delays, 0.5),
    editP99: quantile(delays, 0.99),
    ...{ writes, calls },
  };
}

/** The process has sent its first create, and then for a while nothing, and taken hardly any time. */
async function whenQuiet(cloud: Cloud, running: Running) {
  const calls: Record<string, number> = {};
  let firstPostAt = Number.NaN;
  let cpuBefore = 0;
  const isQuiet = async () => {
    await sleep(2_000);
    const news = await cloud.calls();
    for (const [name, count] of Object.entries(news.calls)) calls[name] = (calls[name] ?? 0) + count;
    const [, at] = news.arrivals.find(([name]) => name.startsWith('POST ')) ?? [];
    if (Number.isNaN(firstPostAt) && at !== undefined) firstPostAt = at;
    const { cpuSeconds } = await running.figures();
    const busySeconds = cpuSeconds - cpuBefore;
    cpuBefore = cpuSeconds;
    if (!Number.isNaN(firstPostAt) && news.arrivals.length === 0 && busySeconds < 0.2) return true;
    throw new Error(
      `first create at ${firstPostAt}, ${news.arrivals.length} calls and ${busySeconds} s of CPU in 2 s\n${running.said()}`,
    );
  };
  await until('the operator to be quiet', isQuiet, 300_000);
  return { calls, firstPostAt };
}

/** One at a time, so that none waits for another. */
async function editsOf(resources: Resources, cloud: Cloud, edits: number): Promise<readonly number[]> {
  const delays: number[] = [];
  for (let index = 0; index < edits; index++) {
    await cloud.calls();
    await resources.edit(index, `edited at ${Date.now()}`);
    const answeredAt = performance.timeOrigin + performance.now();
    const arrivals = await until('the call for an edit', async () => {
      const news = await cloud.calls();
      return news.arrivals.length > 0 && news.arrivals;
    });
    delays.push(Math.max(0, (arrivals[0]?.[1] ?? Number.NaN) - answeredAt));
    await sleep(30);
  }
  return delays;
}

/**
 * Memory of an agent with inspection on over many requests: `node test/bench/agent/soak.ts [requests]`. The captures
 * reach their budget (50 MB) in the first quarter; from then on memory is to stay where it is. Measured after a full garbage collection.
 */
import { startChild } from './child.ts';
import type { Measured } from './load.ts';

const requests = Number(process.argv[2] ?? 100_000);
const steps = 10;
const allowedGrowthMB = 30;

const origin = await startChild<{ port: number }>('origin.ts');
const [agent, load] = await Promise.all([
  startChild<{ port: number }>('agent-process.ts', String(origin.up.port)),
  startChild<unknown>('load.ts'),
]);

const resident: number[] = [];
for (let step = 1; step <= steps; step += 1) {
  const what = { port: agent.up.port, path: '/1024', requests: requests / steps, connections: 32 };
  const { perSecond } = await load.ask<Measured>(what);
  const { rss, heapUsed, arrayBuffers } = (await agent.ask<{ memory: NodeJS.MemoryUsage }>({})).memory;
  resident.push(rss / 1e6);
  const figures = [rss, heapUsed, arrayBuffers].map((bytes) => (bytes / 1e6).toFixed(0).padStart(4));
  console.log(
    `${String((requests * step) / steps).padStart(7)} requests, ${perSecond.toFixed(0)}/s; MB resident, heap, buffers: ${figures.join(' ')}`,
  );
}
for (const child of [origin, agent, load]) child.stop();

const settled = resident.slice(Math.ceil(steps / 4));
const half = Math.floor(settled.length / 2);
const growth = mean(settled.slice(half)) - mean(settled.slice(0, half));
console.log(
  `growth between the two halves after the first quarter: ${growth.toFixed(1)} MB (allowed ${allowedGrowthMB})`,
);
process.exitCode = growth > allowedGrowthMB ? 1 : 0;

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

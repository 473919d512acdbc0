/**
 * What the embedded Kubernetes API costs: `node test/bench/kube-api.ts [main] [flags]`, where `main` is `src/main.ts`
 * (the default) or `dist/main.js` and flags go to `edge-operator kube`. Linux only. Figures on a busy machine are
 * worse: compare the CPU time, and the start with that of an empty Node process, which is printed too.
 */
import { execFileSync } from 'node:child_process';
import { measureDelays } from './kube-delays.ts';
import { fill, sender, startKubeProcess } from './kube-process.ts';

const [main = 'src/main.ts', ...flags] = process.argv.slice(2);
const ms = (value: number) => `${value.toFixed(1)} ms`;

const starts: number[] = [];
const bare: number[] = [];
for (let round = 0; round < 7; round += 1) {
  const before = performance.now();
  execFileSync(process.execPath, ['-e', '0']);
  bare.push(performance.now() - before);
  const server = await startKubeProcess(main, ...flags);
  starts.push(server.startMs);
  await server.stop();
}
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
console.log(`start: median ${ms(median(starts))}, best ${ms(Math.min(...starts))} (node alone: ${ms(median(bare))})`);

const server = await startKubeProcess(main, ...flags);
try {
  const empty = await server.memory();
  const client = sender(server);
  const [filling, cpuBefore] = [performance.now(), await server.cpuTime()];
  await fill(client.send, 10_000, 1_536);
  const seconds = (performance.now() - filling) / 1_000;
  const cpu = ((await server.cpuTime()) - cpuBefore) / 10_000;
  const full = await server.memory();
  console.log(`memory: ${full.toFixed(0)} MB with 10,000 custom resources of 1.5 KB (empty: ${empty.toFixed(0)} MB)`);
  console.log(`creates: ${(10_000 / seconds).toFixed(0)}/s, ${cpu.toFixed(2)} ms of CPU each`);
  await client.close();
  const delays = await measureDelays(server, { watchers: 50, perSecond: 500, seconds: 10 });
  const percentiles = `p50 ${ms(delays.p50)}, p99 ${ms(delays.p99)}, max ${ms(delays.max)}`;
  console.log(`events to 50 watchers at ${delays.writesPerSecond.toFixed(0)} writes/s: ${percentiles}`);
  console.log(`${delays.cpuPerWrite.toFixed(2)} ms of CPU for a write and its 50 events`);
  console.log(`memory afterwards: ${(await server.memory()).toFixed(0)} MB`);
} finally {
  await server.stop();
}

/**
 * Throughput and latency of an http tunnel with inspection on, against a bare proxy in Node, nginx (where it is
 * installed) and no proxy at all: `node test/bench/agent/http.ts [rounds]`. All run at once and are measured in turn,
 * so that whatever else the machine does strikes them alike; figures are medians over the rounds. Added is the latency
 * beyond that without a proxy; CPU time is the proxy's own for a request (Linux), and depends least on what else runs.
 */
import { readFileSync } from 'node:fs';
import { type Child, startChild } from './child.ts';
import type { Load, Measured } from './load.ts';
import { startNginx } from './nginx.ts';

const rounds = Number(process.argv[2] ?? 7);
const connections = 32;
const loads = [
  { bytes: 1_024, requests: 10_000 },
  { bytes: 102_400, requests: 3_000 },
] as const;

interface Up {
  readonly port: number;
}

const origin = await startChild<Up>('origin.ts');
const upstream = String(origin.up.port);
const [bare, agent, load] = await Promise.all([
  startChild<Up>('bare-proxy.ts', upstream),
  startChild<Up>('agent-process.ts', upstream),
  startChild<unknown>('load.ts'),
]);
const nginx = await startNginx(origin.up.port);

interface Target {
  readonly port: number;
  readonly pid: number | undefined;
}

interface Round extends Measured {
  /** Microseconds for a request. */
  readonly cpu: number;
}

const target = ({ up: { port }, process: { pid } }: Child<Up>): Target => ({ port, pid });
const targets: Readonly<Record<string, Target>> = {
  direct: target(origin),
  bare: target(bare),
  agent: target(agent),
  ...(nginx === undefined ? {} : { nginx }),
};

for (const { bytes, requests } of loads) {
  const measured = await measureInTurn(load, { path: `/${bytes}`, requests });
  console.log(`\n${bytes / 1_024} KB bodies, ${connections} connections, medians of ${rounds} rounds`);
  const { direct, bare: reference } = { direct: medians(measured.direct ?? []), bare: medians(measured.bare ?? []) };
  for (const [name, results] of Object.entries(measured)) {
    const own = medians(results);
    const ratio = median(results.map((result, round) => result.perSecond / (measured.bare?.[round]?.perSecond ?? 1)));
    const added = (['p50', 'p99'] as const).map((of) => (own[of] - direct[of]) / (reference[of] - direct[of]));
    const line = [`${own.perSecond.toFixed(0)}/s`, `p50 ${own.p50.toFixed(2)} ms`, `p99 ${own.p99.toFixed(2)} ms`];
    if (name !== 'direct') line.push(`CPU ${own.cpu.toFixed(0)} µs`);
    const ofBare = `of bare: ${ratio.toFixed(2)}, added p50 ${added[0]?.toFixed(2)}, added p99 ${added[1]?.toFixed(2)}`;
    console.log(name.padEnd(8), ...line.map((text) => text.padEnd(14)), ofBare);
  }
}
for (const child of [origin, bare, agent, load]) child.stop();
await nginx?.stop();

async function measureInTurn(
  child: Child<unknown>,
  what: Pick<Load, 'path' | 'requests'>,
): Promise<Record<string, Round[]>> {
  const results: Record<string, Round[]> = Object.fromEntries(Object.keys(targets).map((name) => [name, []]));
  for (let round = -1; round < rounds; round += 1) {
    for (const [name, { port, pid }] of Object.entries(targets)) {
      const before = cpuMs(pid);
      const result = await child.ask<Measured>({ ...what, port, connections } satisfies Load);
      const cpu = ((cpuMs(pid) - before) * 1_000) / what.requests;
      // The first round only warms up.
      if (round >= 0) results[name]?.push({ ...result, cpu });
    }
  }
  return results;
}

function medians(results: readonly Round[]): Round {
  const of = (pick: (result: Round) => number) => median(results.map(pick));
  return {
    perSecond: of((result) => result.perSecond),
    p50: of((result) => result.p50),
    p99: of((result) => result.p99),
    cpu: of((result) => result.cpu),
  };
}

/** In user and kernel mode, since it began; Linux counts it in hundredths of a second. */
function cpuMs(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

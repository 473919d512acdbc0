import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/until.ts';
import { mark } from './kube-marks.ts';
import { addresses, type KubeProcess, sender } from './kube-process.ts';

export interface Delays {
  /** Milliseconds from sending a write to the event's arrival at a watcher. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly events: number;
  /** Median of how long the writes themselves took. */
  readonly writeP50: number;
  readonly writesPerSecond: number;
  /** CPU time of the server for one write and its events, in milliseconds. */
  readonly cpuPerWrite: number;
}

export interface Load {
  readonly watchers: number;
  readonly perSecond: number;
  readonly seconds: number;
}

/** Writes to objects that `fill` made, at a steady rate, while watchers in another process measure the delay of events. */
export async function measureDelays(server: KubeProcess, load: Load): Promise<Delays> {
  const { url, token } = server;
  const child = fork(join(import.meta.dirname, 'kube-watchers.ts'), [url, token, addresses, String(load.watchers)]);
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the watchers ended with code ${code}`)));
  const next = async () => (await Promise.race([once(child, 'message'), ended]))[0];
  const ask = async (): Promise<readonly number[]> => {
    child.send('delays');
    return next();
  };
  try {
    await next();
    await writeSteadily(server, { ...load, seconds: 1 });
    await ask();
    const cpuBefore = await server.cpuTime();
    const { count, seconds, tookMs } = await writeSteadily(server, load);
    const delays: number[] = [];
    const arrived = async () => {
      for (const delay of await ask()) delays.push(delay);
      return delays.length >= count * load.watchers;
    };
    await until('every event to arrive', arrived, 60_000);
    const cpu = (await server.cpuTime()) - cpuBefore;
    return {
      p50: quantile(delays, 0.5),
      p99: quantile(delays, 0.99),
      max: quantile(delays, 1),
      events: delays.length,
      writeP50: quantile(tookMs, 0.5),
      writesPerSecond: count / seconds,
      cpuPerWrite: cpu / count,
    };
  } finally {
    ended.catch(() => {});
    child.kill();
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

async function writeSteadily(server: KubeProcess, { perSecond, seconds }: Load) {
  const { send, close } = sender(server);
  const started = performance.now();
  const pending = new Set<Promise<void>>();
  const tookMs: number[] = [];
  let count = 0;
  while (performance.now() - started < seconds * 1_000) {
    const due = Math.floor(((performance.now() - started) / 1_000) * perSecond);
    for (; count < due; count += 1) {
      const sentAt = performance.now();
      const write = send(
        'PATCH',
        `${addresses}/bench-${count % 100}`,
        JSON.stringify({ spec: { description: mark() } }),
      );
      pending.add(write);
      void write.then(() => {
        pending.delete(write);
        tookMs.push(performance.now() - sentAt);
      });
    }
    await sleep(1);
  }
  await Promise.all(pending);
  await close();
  return { count, tookMs, seconds: (performance.now() - started) / 1_000 };
}

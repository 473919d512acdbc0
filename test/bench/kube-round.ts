import { execFileSync } from 'node:child_process';
import { type Load, measureDelays } from './kube-delays.ts';
import { fill, sender, startKubeProcess } from './kube-process.ts';

/** What one server cost from its start on: times in milliseconds, memory as resident set size in MB. */
export interface Round {
  /** Of a Node process that does nothing: what the machine makes of a start now. */
  readonly bareStart: number;
  readonly start: number;
  readonly emptyMemory: number;
  readonly fullMemory: number;
  /** CPU time of one create. */
  readonly create: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly writesPerSecond: number;
  /** CPU time of one write and its events. */
  readonly write: number;
  readonly memoryAfterwards: number;
}

/** Starts a server, fills it, and has it watched; `main` is `src/main.ts` or `dist/main.js`. */
export async function measureRound(
  main: string,
  flags: readonly string[],
  objects: number,
  load: Load,
): Promise<Round> {
  const bareStart = bareStartMs();
  const server = await startKubeProcess(main, ...flags);
  try {
    const emptyMemory = await server.memory();
    const { send, close } = sender(server);
    const before = await server.cpuTime();
    await fill(send, objects, 1_536);
    const create = ((await server.cpuTime()) - before) / objects;
    const fullMemory = await server.memory();
    await close();
    const { p50, p99, max, writesPerSecond, cpuPerWrite } = await measureDelays(server, load);
    return {
      bareStart,
      start: server.startMs,
      emptyMemory,
      fullMemory,
      create,
      p50,
      p99,
      max,
      writesPerSecond,
      write: cpuPerWrite,
      memoryAfterwards: await server.memory(),
    };
  } finally {
    await server.stop();
  }
}

function bareStartMs(): number {
  const before = performance.now();
  execFileSync(process.execPath, ['-e', '0']);
  return performance.now() - before;
}

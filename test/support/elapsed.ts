export async function elapsedMs(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/**
 * The least of up to three attempts' milliseconds; the first one under the limit is the last. A busy machine slows down
 * one or another of them, a slow product all.
 */
export async function quickestMs(limitMs: number, attempt: (index: number) => Promise<number>): Promise<number> {
  const took: number[] = [];
  for (let index = 0; index < 3; index += 1) {
    took.push(await attempt(index));
    if (took.some((ms) => ms < limitMs)) break;
  }
  return Math.min(...took);
}

/** What this thread takes of a processor from now on, in milliseconds: not what others on the machine keep from it. */
export function cpuTimer(): () => number {
  const before = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
}

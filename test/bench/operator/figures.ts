import { readFile } from 'node:fs/promises';

/** What the system says of a process; Linux only. */
export interface ProcessFigures {
  /** User and system time so far. */
  readonly cpuSeconds: number;
  /** Resident set size in MB, now and at its largest. */
  readonly rss: number;
  readonly peakRss: number;
}

/** `CLK_TCK` of every Linux that Node runs on. */
const ticksPerSecond = 100;

export async function figuresOf(pid: number): Promise<ProcessFigures> {
  const [stat, status] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readFile(`/proc/${pid}/status`, 'utf8'),
  ]);
  // The name of the program, in parentheses, may hold blanks.
  const fields = stat.replace(/^.*\) /, '').split(' ');
  const megabytes = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(status)?.[1]) / 1_024;
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
    rss: megabytes('VmRSS'),
    peakRss: megabytes('VmHWM'),
  };
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value that a share of all are not above; of two in the middle the lower. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

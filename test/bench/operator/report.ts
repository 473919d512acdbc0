import type { Convergence } from './converge.ts';
import { median } from './figures.ts';
import type { Population } from './population.ts';
import type { Counts } from './servers.ts';

/** Rounds of one subject. */
export interface Rounds {
  readonly name: string;
  readonly rounds: readonly Convergence[];
}

const columns = ['', 'Ready', 'of the floor', 'first create', 'CPU', 'peak memory', 'writes', 'calls', 'duplicates'];

/** Medians, and what share of the floor's time the job could be done in, round by round: as Markdown. */
export function convergenceTable(subjects: readonly Rounds[]): string {
  const floor = subjects.find(({ name }) => name === 'floor')?.rounds ?? [];
  const rows = subjects.map(({ name, rounds }) => {
    const of = (figure: (round: Convergence) => number) => median(rounds.map(figure));
    const ratios = rounds.map(({ readyMs }, index) => (floor[index]?.readyMs ?? Number.NaN) / readyMs);
    const [last] = rounds.slice(-1);
    return [
      name,
      `${(of(({ readyMs }) => readyMs) / 1_000).toFixed(1)} s`,
      median(ratios).toFixed(2),
      `${of(({ firstPostMs }) => firstPostMs).toFixed(0)} ms`,
      `${of(({ cpuSeconds }) => cpuSeconds).toFixed(1)} s`,
      `${of(({ peakRss }) => peakRss).toFixed(0)} MB`,
      told(last?.writes ?? {}),
      told(last?.calls ?? {}),
      String(of(({ duplicates }) => duplicates)),
    ];
  });
  return table([columns, ...rows]);
}

export function populationTable(populations: readonly Population[]): string {
  const head = ['Ready already', 'memory', 'peak', 'first create', 'CPU of the start', 'CPU of a quiet minute'];
  const rows = populations.map((each) => [
    each.count.toLocaleString('en'),
    `${each.rss.toFixed(0)} MB`,
    `${each.peakRss.toFixed(0)} MB`,
    `${each.firstPostMs.toFixed(0)} ms`,
    `${each.startCpuSeconds.toFixed(1)} s`,
    `${each.idleCpuSeconds.toFixed(2)} s`,
    `${each.editP50.toFixed(1)}, ${each.editP99.toFixed(1)} ms`,
    told(each.writes),
    told(each.calls),
  ]);
  return table([[...head, 'edit to call, p50, p99', 'writes', 'calls'], ...rows]);
}

function told(counts: Counts): string {
  const named = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  return named.join(', ') || 'none';
}

function table([head = [], ...rows]: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

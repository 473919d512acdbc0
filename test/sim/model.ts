/**
 * A model of what no machine here holds: `npm run sim:model -- [--resources N] [--accounts N] [--replicas N] [--shards N]`.
 * Prints a table for docs/performance.md.
 */
import { parseArgs } from 'node:util';
import { runCommand, whole } from '../support/command.ts';
import { type ModelOptions, runModel } from './load/model.ts';

/**
 * Measured on a machine with two processors: 3.9 s of one for 2,000 creates, and 0.27 s a minute with 10,000 resources at
 * rest, of which a tenth is looked at in each minute.
 */
const costMs = { change: 1.95, check: 0.27 };

/** Resident memory, measured likewise: without resources, and what each adds on every replica, for all know of all. */
const memory = { idleMB: 75, perResourceKB: 3 };

const minute = 60_000;

await runCommand(async () => {
  const number = (fallback: number) => ({ type: 'string', default: String(fallback) }) as const;
  const { values } = parseArgs({
    options: {
      resources: number(200_000),
      accounts: number(50),
      'requests-per-minute': number(120),
      'changes-per-minute': number(20),
      replicas: number(3),
      shards: number(12),
      before: number(20),
      after: number(20),
    },
  });
  const of = (name: keyof typeof values) => whole(`--${name}`, values[name], 1);
  const options: ModelOptions = {
    seed: 1,
    resources: of('resources'),
    accounts: of('accounts'),
    requestsPerMinute: of('requests-per-minute'),
    changesPerMinute: of('changes-per-minute'),
    resyncMs: 10 * minute,
    replicas: of('replicas'),
    shards: of('shards'),
    minutes: [of('before'), of('after')],
    latencyMs: 50,
    costMs,
  };
  const { latencies, ages, gaps, busy } = await runModel(options);
  const { resources, accounts, requestsPerMinute, replicas, shards, changesPerMinute } = options;
  const rows = [
    ['user changes, from the change to its end: p50, p99, longest', spread(latencies.calm)],
    ['age of what is known of a resource, by drift checks: p50, p99, oldest', spread(ages.calm)],
    ['processor used by each replica', `${(100 * busy).toFixed(0)}%`],
    [
      'memory of each replica',
      `${((memory.idleMB + (memory.perResourceKB * resources) / 1_024) / 1_024).toFixed(1)} GB`,
    ],
    ['a replica dies: its shards are without a holder for', `${time(gaps[0])} to ${time(gaps.at(-1))}`],
    ['after that, changes of its accounts: p50, p99, longest', spread(latencies.orphans)],
    ['after that, changes of other accounts: p50, p99, longest', spread(latencies.others)],
    ['after that, age of what is known: p50, p99, oldest', spread(ages.after)],
  ];
  console.log(
    `${resources} resources of ${accounts} accounts, ${requestsPerMinute} requests a minute each, of which ${2 * changesPerMinute} are for changes by people; ${replicas} replicas, ${shards} shards\n`,
  );
  console.log(['| What | In the model |', '|---|---|', ...rows.map(([what, is]) => `| ${what} | ${is} |`)].join('\n'));
  return (gaps.at(-1) ?? 0) > 20_000 ? 'something' : 'nothing';
});

function spread(values: readonly number[]): string {
  const at = (share: number) => values[Math.min(values.length - 1, Math.floor(share * values.length))];
  return [at(0.5), at(0.99), values.at(-1)].map(time).join(', ');
}

function time(ms = Number.NaN): string {
  if (ms < 1_000) return `${ms.toFixed(0)} ms`;
  return ms < 2 * minute ? `${(ms / 1_000).toFixed(1)} s` : `${(ms / minute).toFixed(1)} min`;
}

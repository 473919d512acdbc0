/**
 * What the embedded Kubernetes API costs: `node test/bench/kube-api.ts [main] [flags]`, where `main` is `src/main.ts`
 * (the default) or `dist/main.js` and flags go to `edge-operator kube`. Linux only. Prints the median of seven rounds,
 * each with a server of its own, and the best and the worst: where those lie far apart the machine had other work.
 */
import { measureRound, type Round } from './kube-round.ts';

const [main = 'src/main.ts', ...flags] = process.argv.slice(2);
const objects = 10_000;
const load = { watchers: 50, perSecond: 500, seconds: 8 };

const figures: readonly (readonly [name: string, figure: keyof Round, unit: string, digits: number])[] = [
  ['start', 'start', 'ms', 0],
  ['start of Node alone', 'bareStart', 'ms', 0],
  ['memory when empty', 'emptyMemory', 'MB', 0],
  [`memory with ${objects} custom resources of 1.5 KB`, 'fullMemory', 'MB', 0],
  ['CPU time of a create', 'create', 'ms', 2],
  [`event to ${load.watchers} watchers at ${load.perSecond} writes/s, p50`, 'p50', 'ms', 1],
  [`event to ${load.watchers} watchers at ${load.perSecond} writes/s, p99`, 'p99', 'ms', 1],
  [`event to ${load.watchers} watchers at ${load.perSecond} writes/s, slowest`, 'max', 'ms', 1],
  ['writes that were reached', 'writesPerSecond', '/s', 0],
  [`CPU time of a write and its ${load.watchers} events`, 'write', 'ms', 2],
  ['memory afterwards', 'memoryAfterwards', 'MB', 0],
];

const rounds: Round[] = [];
while (rounds.length < 7) rounds.push(await measureRound(main, flags, objects, load));

for (const [name, figure, unit, digits] of figures) {
  const values = rounds.map((round) => round[figure]).sort((a, b) => a - b);
  const [best, middle, worst] = [0, values.length >> 1, values.length - 1].map((at) => values[at]?.toFixed(digits));
  console.log(`${name}: ${middle} ${unit} (${best} to ${worst})`);
}

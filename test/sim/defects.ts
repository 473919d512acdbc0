import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { type Defect, defects } from './mutants/defects.ts';
import { type Found, hunt } from './mutants/hunt.ts';

/*
 * npm run sim:defects -- [--only NAME,...] [--seeds N] [--workers W]
 *
 * Plants each defect in a copy of the operator and looks for it. Exit code 1 when one is not found.
 */

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    seeds: { type: 'string', default: '500' },
    workers: { type: 'string', default: String(Math.max(1, Math.floor(availableParallelism() / 2))) },
  },
});
const names = values.only?.split(',');
const unknown = names?.find((name) => !defects.some((defect) => defect.name === name));
if (unknown !== undefined) {
  console.error(`--only: there is no defect named ${unknown}; there are ${defects.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}

const waiting = defects.filter(({ name }) => names?.includes(name) ?? true);
const results = new Map<Defect, Found | undefined>();

async function work(): Promise<void> {
  for (let defect = waiting.shift(); defect !== undefined; defect = waiting.shift()) {
    const found = await hunt(defect, Number(values.seeds));
    results.set(defect, found);
    const how = found === undefined ? 'NOT FOUND' : `seed ${found.seed}, by ${found.oracle}, ${seconds(found.realMs)}`;
    console.log(`${defect.name.padEnd(36)} ${defect.sort.padEnd(34)} ${how}`);
  }
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

await Promise.all(Array.from({ length: Number(values.workers) }, work));
const found = [...results.values()].filter((each) => each !== undefined).length;
console.log(`${found} of ${results.size} defects found within ${values.seeds} seeds each`);
process.exitCode = found === results.size ? 0 : 1;

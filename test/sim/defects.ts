import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { UsageError } from '../../src/common/usage.ts';
import { runCommand, whole } from '../support/command.ts';
import { type Defect, defects } from './mutants/defects.ts';
import { type Found, hunt } from './mutants/hunt.ts';

/*
 * npm run sim:defects -- [--only NAME,...] [--seeds N] [--workers W]
 *
 * Plants each defect in a copy of the operator and looks for it. Exit code 1 when one is not found.
 */

await runCommand(async () => {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      seeds: { type: 'string', default: '500' },
      workers: { type: 'string', default: String(Math.max(1, Math.floor(availableParallelism() / 2))) },
    },
  });
  const [seeds, workers] = [whole('--seeds', values.seeds, 1), whole('--workers', values.workers, 1)];
  const waiting = [...wanted(values.only?.split(','))];
  const results = new Map<Defect, Found | undefined>();

  async function work(): Promise<void> {
    for (let defect = waiting.shift(); defect !== undefined; defect = waiting.shift()) {
      const found = await hunt(defect, seeds);
      results.set(defect, found);
      const how =
        found === undefined ? 'NOT FOUND' : `seed ${found.seed}, by ${found.oracle}, ${seconds(found.realMs)}`;
      console.log(`${defect.name.padEnd(36)} ${defect.sort.padEnd(34)} ${how}`);
    }
  }

  await Promise.all(Array.from({ length: workers }, work));
  const found = [...results.values()].filter((each) => each !== undefined).length;
  console.log(`${found} of ${results.size} defects found within ${seeds} seeds each`);
  return found === results.size ? 'nothing' : 'something';
});

function wanted(names: readonly string[] | undefined): readonly Defect[] {
  const all = defects.map(({ name }) => name);
  const unknown = names?.find((name) => !all.includes(name));
  if (unknown !== undefined)
    throw new UsageError(`--only: there is no defect named ${unknown}; there are ${all.join(', ')}`);
  return defects.filter(({ name }) => names?.includes(name) ?? true);
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

/**
 * What the operator costs, as a real process: `npm run bench -- [--quick] [--rounds N] [--count N] [--populations A,B]
 * [--only floor,operator,peer,kopf] [--json FILE]`. Linux only. Beside it on the same servers, in turn, a floor (only the
 * calls that the job cannot do without), a peer on controller-runtime, built by Go, and one on kopf, if Python is there.
 * TEST_KUBE_APISERVER names the API server, else it is the embedded one. Exit code 1 when what is exact (calls, writes,
 * size) has grown; docs/performance.md says more.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ToolError } from '../../scripts/tools.ts';
import { Bundle } from '../support/bundle.ts';
import { known, orRefused, whole } from '../support/command.ts';
import { converge } from './operator/converge.ts';
import { exceeded } from './operator/limits.ts';
import { populations } from './operator/population.ts';
import { convergenceTable, populationTable, type Rounds } from './operator/report.ts';
import { controllerRuntime, floor, kopf, operator, type Subject } from './operator/subjects.ts';

const names = ['floor', 'operator', 'peer', 'kopf'];
const asked = orRefused(parse);
const { rounds, count, json } = asked;

const folder = await mkdtemp(join(tmpdir(), 'bench-'));
try {
  const product = await operator(folder);
  const subjects = rounds === 0 ? [] : await wanted(product);
  const converged = await inTurn(subjects, rounds, count);
  if (converged.length > 0) console.log(`\n${count} resources\n\n${convergenceTable(converged)}\n`);
  const options = asked.quick
    ? { edits: 5, settleMs: 0, quietMs: 5_000 }
    : { edits: 100, settleMs: 20_000, quietMs: 60_000 };
  const populated = await populations(product, asked.populations, options);
  if (populated.length > 0) console.log(`${populationTable(populated)}\n`);
  const bytes = (await Bundle.of('image-run')).startBytes();
  console.log(`run starts from ${bytes} bytes`);
  if (json !== undefined) await writeFile(json, JSON.stringify({ count, converged, populated, bytes }, undefined, 2));
  const own = converged.find(({ name }) => name === 'operator')?.rounds ?? [];
  const grown = exceeded(count, own, populated, bytes);
  for (const line of grown) console.error(line);
  process.exitCode = grown.length === 0 ? 0 : 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

function parse() {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      count: { type: 'string' },
      populations: { type: 'string' },
      only: { type: 'string' },
      json: { type: 'string' },
    },
  });
  const { quick, json } = values;
  const usual = quick
    ? { rounds: '1', count: '300', populations: '0,500' }
    : { rounds: '5', count: '2000', populations: '0,10000' };
  const given = { ...usual, ...values };
  return {
    quick,
    json,
    rounds: whole('--rounds', given.rounds, 0),
    count: whole('--count', given.count, 1),
    populations: given.populations
      .split(',')
      .filter(Boolean)
      .map((each) => whole('--populations', each, 0)),
    only: known('--only', values.only, names) ?? (quick ? ['floor', 'operator'] : names),
  };
}

async function wanted(product: Subject): Promise<readonly Subject[]> {
  const found = await Promise.all(
    asked.only.map(async (name) => {
      if (name === 'floor') return floor;
      if (name === 'operator') return product;
      if (name === 'peer') return ifAny(controllerRuntime);
      return name === 'kopf' ? ifAny(kopf) : undefined;
    }),
  );
  return found.filter((subject) => subject !== undefined);
}

async function ifAny(build: () => Promise<Subject>): Promise<Subject | undefined> {
  try {
    return await build();
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    console.error(`without ${build.name}: ${error.message}`);
    return undefined;
  }
}

/** So that what else the machine does strikes all alike. */
async function inTurn(subjects: readonly Subject[], times: number, resources: number): Promise<readonly Rounds[]> {
  const all = subjects.map(({ name }) => ({ name, rounds: [] as Awaited<ReturnType<typeof converge>>[] }));
  for (let round = 0; round < times; round++) {
    for (const [index, subject] of subjects.entries()) {
      const figures = await converge(subject, resources);
      all[index]?.rounds.push(figures);
      console.error(`${subject.name} ${JSON.stringify(figures)}`);
    }
  }
  return all;
}

/**
 * The crash map: `npm run sim:crashes -- [flags]`; docs/simulation.md says which. Every kind lives its lives once
 * undisturbed and then with a crash around every request, in all four positions, and with two. Exit code 1 where
 * something was wrong, or a planned crash did not come about.
 */
import { writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { runCommand } from '../support/command.ts';
import { parseCrashFlags } from './crash-map/flags.ts';
import { mapLife, type Row } from './crash-map/map.ts';
import { absencesOf, crashesAsText, tableOf } from './crash-map/table.ts';
import type { LifeJob, ToldLife } from './crash-map/tell-life.ts';
import { Pool } from './search/pool.ts';

await runCommand(async () => {
  const { kinds, lives, pairs, workers, json } = parseCrashFlags(process.argv.slice(2));
  const began = performance.now();
  const module = new URL('crash-map/tell-life.ts', import.meta.url);
  using pool = new Pool<LifeJob, ToldLife>({ module, workers, patienceMs: 600_000 });
  const lived = kinds.flatMap((kind) => lives.map((life) => mapLife(kind, life, pairs, (job) => pool.run(job))));
  const rows = await Promise.all(lived);
  for (const line of [...tableOf(rows), '', ...absencesOf(rows)]) console.log(line);
  for (const row of rows) tell(row);
  const runs = rows.reduce((total, row) => total + row.singles + row.pairs, 0);
  console.log(`${runs} crashing stories in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(rows, null, 2)}\n`);
  return rows.some(({ failures, missed }) => failures.length + missed.length > 0) ? 'something' : 'nothing';
});

function tell({ kind, life, failures, missed }: Row): void {
  for (const { crashes, violations } of failures) {
    const [first] = violations;
    console.log(`${kind}, ${life}, ${crashesAsText(crashes)}: ${first?.oracle}: ${first?.message.split('\n')[0]}`);
  }
  for (const crashes of missed) console.log(`${kind}, ${life}, ${crashesAsText(crashes)}: did not come about`);
}

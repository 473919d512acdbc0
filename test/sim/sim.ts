/**
 * The world from a seed: `npm run sim -- [flags]`; docs/simulation.md says which. Tells the stories of many seeds and
 * makes shorter what goes wrong (exit code 1), checks that a seed always gives the same, or shows one story.
 */
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Found, runCommand } from '../support/command.ts';
import { show } from './narrate/show.ts';
import { oracles } from './oracles/index.ts';
import { habits } from './people/index.ts';
import { printStory } from './regressions/print.ts';
import { folder, nameOf, readStory } from './regressions/story-file.ts';
import { type Flags, parseFlags } from './search/flags.ts';
import { lineOf, lineOfShrunken, lineOfTotal } from './search/report.ts';
import { check, search } from './search/search.ts';
import { sets } from './search/sets.ts';
import { type ShrunkenSeed, storyOf } from './search/work.ts';
import { troubles } from './troubles/index.ts';

await runCommand(async () => {
  const names = {
    troublesAndHabits: [...Object.keys(troubles), ...Object.keys(habits)],
    oracles: Object.keys(oracles),
  };
  const flags = parseFlags(process.argv.slice(2), names);
  if (flags.list) return list();
  if (flags.one !== undefined) return showOne(flags, flags.one);
  return flags.check ? checkAndSay(flags) : searchAndSay(flags);
});

function list(): Found {
  const rows = [...Object.entries(troubles), ...Object.entries(habits)].map(
    ([name, { about }]) => [name, about] as const,
  );
  const groups = Object.entries(sets).map(([name, all]) => [name, all.join(', ')] as const);
  const width = Math.max(...rows.map(([name]) => name.length));
  for (const [name, about] of [...rows, ...groups]) console.log(`${name.padEnd(width)}  ${about}`);
  return 'nothing';
}

async function showOne(flags: Flags, one: NonNullable<Flags['one']>): Promise<Found> {
  const story = 'story' in one ? readStory(one.story).story : storyOf({ seed: one.seed, only: flags.only });
  const how = flags.verbose ? 'raw' : flags.trace ? 'people' : 'head';
  const { lines, outcome } = await show(story, { oracles: flags.oracles, how });
  console.log(lines.join('\n'));
  return outcome.violations.length === 0 ? 'nothing' : 'something';
}

async function checkAndSay(flags: Flags): Promise<Found> {
  const unequal = await check(flags);
  for (const { seed, hashes } of unequal) console.log(`seed ${seed}  ${JSON.stringify(hashes)}`);
  console.log(`${flags.seeds ?? 1} seeds told three times, ${unequal.length} of them not the same each time`);
  return unequal.length === 0 ? 'nothing' : 'something';
}

async function searchAndSay(flags: Flags): Promise<Found> {
  const found: object[] = [];
  const total = await search(flags, {
    onTold: (told) => {
      found.push(told);
      console.log(lineOf(told));
    },
    onShrunken: (shrunken) => {
      found.push(shrunken);
      keep(shrunken, flags);
    },
    onFailed: (seed, message) => {
      found.push({ seed, message });
      console.log(`seed ${seed}  ${message}`);
    },
  });
  console.log(lineOfTotal(total));
  if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify({ ...total, found }, null, 2)}\n`);
  return total.failing === 0 ? 'nothing' : 'something';
}

/** As a test that is ready to be kept. */
function keep(shrunken: ShrunkenSeed, { print, only }: Flags): void {
  const { seed, story, violation } = shrunken;
  const { oracle, message } = violation;
  const text = printStory({ about: message, oracle, seed, ...(only === undefined ? {} : { only }), story });
  const path = join(folder, nameOf(oracle, seed));
  console.log(lineOfShrunken(shrunken, print ? '' : `, ${relative(process.cwd(), path)}`));
  if (print) console.log(text);
  else writeFileSync(path, text);
}

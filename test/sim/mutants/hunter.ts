import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { makeStory } from '../people/index.ts';
import { tell } from '../search/tell.ts';
import { troubles } from '../troubles/index.ts';

/*
 * Run in a copy of the project, one process for many seeds: answers each line of its input, a seed, by a line with the
 * names of the oracles that spoke.
 */

const { values } = parseArgs({ options: { only: { type: 'string' } } });
const only = values.only?.split(',');

const input = createInterface({ input: process.stdin });
input.on('line', async (line) => {
  const seed = Number(line);
  const story = makeStory(seed, { troubles, ...(only === undefined ? {} : { only }) });
  const { violations } = await tell(story);
  // No message: it may hold what a reader of lines takes for the end of one.
  process.stdout.write(`${JSON.stringify([...new Set(violations.map(({ oracle }) => oracle))])}\n`);
});
await once(input, 'close');

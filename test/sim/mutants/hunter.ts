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
  const { violations, virtualMs } = await tell(story);
  const spoke = [...new Set(violations.map(({ oracle }) => oracle))];
  process.stdout.write(
    `${JSON.stringify({ seed, spoke, virtualMs, messages: violations.map(({ message }) => message) })}\n`,
  );
});
await once(input, 'close');

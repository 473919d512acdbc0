/**
 * How fast a world is: `npm run sim:speed -- [--hours N]`. 20 resources of all kinds, edited twice a minute, under one
 * trouble after the other; once with the oracles and once without. Exit code 1 below 500 virtual seconds a second,
 * or when an oracle speaks.
 */
import { parseArgs } from 'node:util';
import { runCommand, whole } from '../support/command.ts';
import { speedStory } from './load/speed.ts';
import { tell } from './search/tell.ts';

const wanted = 500;

await runCommand(async () => {
  const { values } = parseArgs({ options: { hours: { type: 'string', default: '12' } } });
  const story = speedStory(1, whole('--hours', values.hours, 1));
  // What is loaded and compiled once is not what is measured.
  await tell({ ...story, acts: story.acts.slice(0, 40) });
  const speeds = [];
  let spoken = 0;
  for (const oracles of [undefined, []]) {
    const { virtualMs, realMs, violations, traceLines } = await tell(story, { oracles });
    const speed = virtualMs / realMs;
    speeds.push(speed);
    spoken += violations.length;
    const judged =
      oracles === undefined ? `with the oracles, which speak ${violations.length} times` : 'without oracles';
    const [virtualS, realS] = [(virtualMs / 1_000).toFixed(0), (realMs / 1_000).toFixed(1)];
    console.log(
      `${speed.toFixed(0)} virtual seconds a second ${judged}: ${virtualS} in ${realS} s, ${traceLines} lines`,
    );
  }
  return spoken > 0 || speeds.some((speed) => speed < wanted) ? 'something' : 'nothing';
});

import type { Story } from '../core/story.ts';
import { virtualTime } from '../core/trace.ts';
import type { Total } from './search.ts';
import type { ShrunkenSeed, Told } from './work.ts';

const longestMessage = 200;

/** One line for a seed in which something was found. */
export function lineOf({ seed, hash, violations, virtualMs }: Told): string {
  const [first] = violations;
  const oracles = [...new Set(violations.map(({ oracle }) => oracle))].join(', ');
  const at = virtualTime(first?.at ?? virtualMs);
  return `seed ${seed} ${hash}  ${oracles}  at ${at}: ${firstLine(first?.message ?? '')}`;
}

export function lineOfShrunken({ seed, story, runs, violation }: ShrunkenSeed, where: string): string {
  return `seed ${seed} made shorter in ${runs} runs: ${violation.oracle} by ${lengthOf(story)}${where}`;
}

/** How long a story is. */
export function lengthOf({ acts }: Story): string {
  const troubles = acts.filter((act) => act.do === 'trouble').length;
  const others = acts.length - troubles;
  return `${count(others, 'act')} and ${count(troubles, 'trouble')}`;
}

export function lineOfTotal({ seeds, failing, violations, virtualMs, realMs }: Total): string {
  const [virtualS, realS] = [virtualMs / 1_000, realMs / 1_000];
  return [
    count(seeds, 'seed'),
    `${virtualS.toFixed(0)} virtual seconds in ${realS.toFixed(1)} s, ${(virtualS / realS).toFixed(0)} a second`,
    `${count(violations, 'violation')} in ${count(failing, 'seed')}`,
  ].join('; ');
}

export function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`;
}

function firstLine(text: string): string {
  const [line = ''] = text.split('\n');
  return line.length > longestMessage ? `${line.slice(0, longestMessage)}...` : line;
}

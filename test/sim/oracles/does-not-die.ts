import type { Report } from '../core/run.ts';
import type { Witness } from './witness/witness.ts';

/** What an error is called that nobody foresaw. */
const internal =
  /\b(?:TypeError|ReferenceError|RangeError|SyntaxError|AssertionError|is not a function|Cannot read prop|is not iterable|Maximum call stack)\b/;

/** No process ends by itself, but because another replica took over, and none runs into a mistake of its own. */
export function doesNotDie(world: Witness, report: Report) {
  let [ended, logged] = [0, 0];
  const look = () => {
    for (; ended < world.endings.length; ended += 1) {
      const ending = world.endings[ended];
      if (ending === undefined || (ending.asked && ending.error === undefined) || isDeposed(ending.error)) continue;
      const how = ending.error === undefined ? 'without being asked to' : `with ${String(ending.error)}`;
      report('does-not-die', `${ending.process} ended ${how}`);
    }
    for (; logged < world.logs.length; logged += 1) {
      const line = world.logs[logged];
      if (line?.level !== 'error') continue;
      const text = `${line.message} ${JSON.stringify(line.fields)}`;
      if (internal.test(text)) report('does-not-die', `${line.process} logged: ${text}`);
    }
  };
  world.network.sendings.add(look);
  return { atRest: look, atEnd: look };
}

function isDeposed(error: unknown): boolean {
  return error instanceof Error && error.name === 'LeadershipLostError';
}

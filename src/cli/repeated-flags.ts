import type { Command } from 'commander';
import { UsageError } from '../common/usage.ts';

/**
 * Has a command refuse a flag of one value that is given more than once: commander takes the last, and whoever gave the first is
 * not told that it is without effect. Lists, and flags that may be repeated, have a parser of their own. @throws UsageError, from
 * parsing
 */
export function refuseRepeatedFlags(command: Command): void {
  for (const option of command.options) {
    if (!option.required || option.parseArg !== undefined) continue;
    let isGiven = false;
    command.on(`option:${option.name()}`, () => {
      if (isGiven) throw new UsageError(`${option.long} is given more than once, and takes one value`);
      isGiven = true;
    });
  }
}

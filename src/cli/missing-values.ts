import type { Command } from 'commander';
import { UsageError } from '../common/usage.ts';

/**
 * Has a command refuse a flag where the value of the one before it is to be: commander takes it for that value, and then
 * finds fault with what follows. A value that does begin with `--` is written behind `=`. @throws UsageError, from parsing
 */
export function refuseMissingValues(command: Command): void {
  const parse = command.parseOptions.bind(command);
  command.parseOptions = (argv) => {
    check(command, argv);
    return parse(argv);
  };
}

function check(command: Command, argv: readonly string[]): void {
  for (let index = 0; index < argv.length && argv[index] !== '--'; index += 1) {
    const flag = argv[index] ?? '';
    if (!needsValue(command, flag)) continue;
    // What is a value is no flag, whatever it looks like.
    index += 1;
    const [next = ''] = argv[index]?.split('=') ?? [];
    if (next.startsWith('--')) throw new UsageError(`${flag} needs a value, and "${next}" is a flag`);
  }
}

function needsValue(command: Command, flag: string): boolean {
  return command.options.some(({ long, short, required }) => required && (long === flag || short === flag));
}

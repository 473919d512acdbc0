import type { Command, Option } from 'commander';
import { parseSwitch, UsageError } from '../common/usage.ts';

/**
 * Switches of a command as users of Go write them, too: `--once=true`, `--once=false`. A switch that is given twice is what
 * it was last. @throws UsageError, from parsing, for another value
 */
export function takeSwitchValues(command: Command): void {
  const parse = command.parseOptions.bind(command);
  command.parseOptions = (argv) => parse(withoutValues(command, argv));
}

/** As commander knows them: there, or not. */
function withoutValues(command: Command, argv: readonly string[]): string[] {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  let given: string[] = [];
  for (const [index, arg] of argv.slice(0, end).entries()) {
    const [flag = '', value] = arg.split(/=(.*)/s);
    const option = switchOf(command, flag);
    if (option === undefined) given.push(arg);
    else if (value === undefined) {
      refuseNext(command, flag, argv[index + 1]);
      given.push(arg);
    } else if (isOn(flag, value)) given.push(flag);
    else {
      given = given.filter((before) => before !== flag);
      command.setOptionValueWithSource(option.attributeName(), option.negate, 'cli');
    }
  }
  return [...given, ...argv.slice(end)];
}

function switchOf(command: Command, flag: string): Option | undefined {
  return command.options.find(({ long, required, optional }) => long === flag && !required && !optional);
}

function isOn(flag: string, value: string): boolean {
  const on = parseSwitch(value);
  if (on !== undefined) return on;
  throw new UsageError(`${flag}=${value} is neither on nor off: write ${flag}=true or ${flag}=false`);
}

/** Nobody has an argument in mind where there is none. */
function refuseNext(command: Command, flag: string, next: string | undefined): void {
  if (next === undefined || command.registeredArguments.length > 0 || parseSwitch(next) === undefined) return;
  throw new UsageError(`${flag} ${next} is two words: write ${flag}=${next}`);
}

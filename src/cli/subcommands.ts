import type { Command } from 'commander';
import { UsageError } from '../common/usage.ts';

const listed = new Intl.ListFormat('en');

/**
 * For a command that does something by itself and has others below it. Each has flags of its own, which stand after its
 * name: before it they would be without effect. What is none of the others is refused, and they are named.
 */
export function addSubcommands(command: Command, subcommands: readonly Command[]): Command {
  for (const subcommand of subcommands) command.addCommand(subcommand);
  return command
    .enablePositionalOptions()
    .allowExcessArguments()
    .hook('preSubcommand', refuseFlags)
    .hook('preAction', (here, running) => (here === running ? refuseUnknown(here) : undefined));
}

function refuseFlags(command: Command, subcommand: Command): void {
  const given = command.options.find((option) => command.getOptionValueSource(option.attributeName()) === 'cli');
  if (given === undefined) return;
  throw new UsageError(`${given.long} stands before "${subcommand.name()}": flags come after the command they are for`);
}

function refuseUnknown(command: Command): void {
  const [unknown] = command.args;
  if (unknown === undefined) return;
  const known = listed.format(command.commands.map((each) => each.name()));
  throw new UsageError(`${command.name()} has no command "${unknown}", only ${known}`);
}

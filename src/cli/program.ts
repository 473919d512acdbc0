import nodeModule from 'node:module';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { clipped, oneLine } from '../common/http/text.ts';
import { UsageError } from '../common/usage.ts';
import { version } from '../common/version.ts';
import { refuseMissingValues } from './missing-values.ts';
import { print } from './print.ts';
import type { Commands } from './production.ts';
import { endUnread, outliveStreams } from './std-streams.ts';
import { takeSwitchValues } from './switches.ts';

const oldestNode = 24;

export interface Program {
  /** Where it was started from: `src` or `dist`. */
  readonly dir: string;
  readonly commands: Commands;
  /** Names of commands that this program lacks, and where they are. */
  readonly elsewhere?: ReadonlyMap<string, string>;
}

/** Runs the command that the process was started with, and sets its exit code. */
export async function start(program: Program): Promise<void> {
  outliveStreams();
  if (Number.parseInt(process.versions.node, 10) < oldestNode) {
    process.stderr.write(
      `error: needs Node ${oldestNode} or later, not ${process.version}; npm start brings its own\n`,
    );
    process.exitCode = 2;
    return;
  }
  // What Node makes of the sources is kept from one start to the next, where it can be written.
  nodeModule.enableCompileCache(join(program.dir, '../node_modules/.cache/compile'));
  const code = await run(program, process.argv.slice(2));
  // A command may have set one itself.
  if (code !== 0) process.exitCode = code;
  endUnread();
}

/** Exit codes: 0 done, 1 failed, 2 used wrongly (one line on stderr says how). */
async function run(program: Program, argv: readonly string[]): Promise<number> {
  const top = new Command('edge-operator')
    .description('Manages a cloud edge account from Kubernetes.')
    .version(version)
    .enablePositionalOptions();
  for (const command of await loadCommands(program.commands, argv[0])) top.addCommand(command);
  let help = '';
  takeOver(top, (text) => {
    help += text;
  });
  try {
    await top.parseAsync(helpAskedFor(argv, top), { from: 'user' }).catch(throwFailures);
    if (help !== '') await print(help);
    return 0;
  } catch (error) {
    const message = messageOf(error);
    if (message !== '') process.stderr.write(`${message}${hint(error, top, program)}\n`);
    return error instanceof UsageError || error instanceof CommanderError ? 2 : 1;
  }
}

/** The command of this name, or all of them when there is none. */
export function loadCommands(commands: Commands, name = ''): Promise<readonly Command[]> {
  const load = commands.get(name);
  return Promise.all(load === undefined ? [...commands.values()].map((each) => each()) : [load()]);
}

/** Errors are thrown instead of written, help that was asked for is handed over, and values are looked at. */
function takeOver(command: Command, onHelp: (text: string) => void): void {
  command.exitOverride().configureOutput({ outputError: () => {}, writeOut: onHelp });
  for (const child of command.commands) {
    takeSwitchValues(child);
    refuseMissingValues(child);
    takeOver(child, onHelp);
  }
}

/** `help` and words, or words and `--help`: commander's own looks at one word, and shows the help above one that names no command. */
function helpAskedFor(argv: readonly string[], top: Command): readonly string[] {
  if (argv[0] === 'help') return helpOf(argv.slice(1), top);
  const flags = argv.findIndex((word) => word.startsWith('-'));
  return ['-h', '--help'].includes(argv[flags] ?? '') ? helpOf(argv.slice(0, flags), top) : argv;
}

/** As a flag, of any command. What names no command is refused like any other. */
function helpOf(given: readonly string[], top: Command): readonly string[] {
  const words = given.filter((word) => !word.startsWith('-'));
  let command: Command | undefined = top;
  for (const word of words) {
    if (command.commands.length === 0) break;
    command = command.commands.find((each) => each.name() === word);
    if (command === undefined) return words;
  }
  return [...words, '--help'];
}

/** That help or the version was shown is an error, too, with code 0. */
function throwFailures(error: unknown): void {
  if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error;
}

/** One line, or nothing where the help has been shown instead. Of a value that is a whole file it has the beginning. */
function messageOf(error: unknown): string {
  if (error instanceof CommanderError && error.code === 'commander.help') return '';
  const message = error instanceof Error ? error.message : String(error);
  const line = oneLine(error instanceof CommanderError ? message : `error: ${message}`);
  return line.replace(/\S{300,}/g, (long) => clipped(long, 60));
}

/** Where the command is that was not found. */
function hint(error: unknown, top: Command, { elsewhere }: Program): string {
  if (!(error instanceof CommanderError) || error.code !== 'commander.unknownCommand') return '';
  const [name = ''] = top.args;
  const above = top.commands.find(({ commands }) => commands.some((command) => command.name() === name));
  const where = elsewhere?.get(name) ?? (above && `there is: ${top.name()} ${above.name()} ${name}`);
  return where === undefined ? '' : `; ${where}`;
}

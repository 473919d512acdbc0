#!/usr/bin/env node
import nodeModule from 'node:module';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { loadCommands } from './cli/index.ts';
import { UsageError } from './common/usage.ts';
import { version } from './common/version.ts';

/** Exit codes: 0 done, 1 failed, 2 used wrongly (one line on stderr says how). */
async function main(argv: readonly string[]): Promise<number> {
  const program = new Command('edge-operator')
    .description('Manages a cloud edge account from Kubernetes.')
    .version(version)
    .showSuggestionAfterError();
  for (const command of await loadCommands(argv[2] ?? '')) program.addCommand(command);
  throwInsteadOfExit(program);
  try {
    await program.parseAsync(argv);
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`error: ${message}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const child of command.commands) throwInsteadOfExit(child);
}

const oldestNode = 24;

if (Number.parseInt(process.versions.node, 10) < oldestNode) {
  process.stderr.write(`error: needs Node ${oldestNode} or later, not ${process.version}; npm start brings its own\n`);
  process.exitCode = 2;
} else {
  // What Node makes of the sources is kept from one start to the next, where it can be written.
  nodeModule.enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/compile'));
  process.exitCode = await main(process.argv);
}

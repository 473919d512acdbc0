#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { agentCommand } from './commands/agent.ts';
import { clearCommand } from './commands/clear.ts';
import { cloudCommand } from './commands/cloud.ts';
import { crdsCommand } from './commands/crds.ts';
import { demoCommand } from './commands/demo.ts';
import { kubeCommand } from './commands/kube.ts';
import { replayCommand } from './commands/replay.ts';
import { requestsCommand } from './commands/requests.ts';
import { runCommand } from './commands/run.ts';
import { statusCommand } from './commands/status.ts';
import { tunnelsCommand } from './commands/tunnels.ts';
import { UsageError } from './usage.ts';
import { version } from './version.ts';

/** Exit codes: 0 done, 1 failed, 2 used wrongly (one line on stderr says how). */
async function main(argv: readonly string[]): Promise<number> {
  const program = new Command('edge-operator')
    .description('Manages a cloud edge account from Kubernetes.')
    .version(version)
    .showSuggestionAfterError();
  for (const command of commands()) program.addCommand(command);
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

function commands(): readonly Command[] {
  return [
    demoCommand(),
    runCommand(),
    agentCommand(),
    tunnelsCommand(),
    requestsCommand(),
    replayCommand(),
    clearCommand(),
    statusCommand(),
    cloudCommand(),
    kubeCommand(),
    crdsCommand(),
  ];
}

function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const child of command.commands) throwInsteadOfExit(child);
}

process.exitCode = await main(process.argv);

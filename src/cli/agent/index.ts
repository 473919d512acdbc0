import { Command } from 'commander';
import { addSubcommands } from '../subcommands.ts';
import { clearCommand } from './clear.ts';
import { replayCommand } from './replay.ts';
import { requestsCommand } from './requests.ts';
import { addRunFlags, runAgent } from './run.ts';
import { statusCommand } from './status.ts';
import { tunnelCommand } from './tunnel.ts';
import { tunnelsCommand } from './tunnels.ts';

const help = `Without a command it runs as its configuration says. http, tcp and tls run it
with one tunnel; the others use an agent that is running.

The API key may also be in EDGE_OPERATOR_API_KEY.

Example:
  edge-operator agent --config agent.yml --web-addr 127.0.0.1:4040`;

export function agentCommand(): Command {
  const command = new Command('agent')
    .description('Run the local agent: forward tunnels, capture and replay requests, serve the Local Agent API.')
    .addHelpText('after', `\n${help}`)
    .action(runAgent);
  return addSubcommands(addRunFlags(command), [
    tunnelCommand('http'),
    tunnelCommand('tcp'),
    tunnelCommand('tls'),
    tunnelsCommand(),
    requestsCommand(),
    replayCommand(),
    clearCommand(),
    statusCommand(),
  ]);
}

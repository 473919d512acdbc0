import { Command } from 'commander';
import { type AgentFlags, addAgentFlags, callAgent } from './call.ts';

interface Flags extends AgentFlags {
  readonly tunnel?: string;
}

export function replayCommand(): Command {
  return addAgentFlags(
    new Command('replay')
      .description('Make a running agent send a captured request to the local server again.')
      .argument('<id>', 'of the captured request')
      .option('--tunnel <name>', 'tunnel to send it through; default the one it came through'),
  )
    .addHelpText('after', '\nHow it went is in the newest of: edge-operator agent requests')
    .action((id: string, flags: Flags) =>
      callAgent(flags, async (agent) => {
        await agent.replay({ id, tunnelName: flags.tunnel });
        return {
          text: () =>
            `${JSON.stringify(id)} is on its way; how it goes is the newest of: edge-operator agent requests\n`,
        };
      }),
    );
}

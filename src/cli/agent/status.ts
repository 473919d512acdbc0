import { Command } from 'commander';
import { type AgentFlags, addAgentFlags, callAgent } from './call.ts';

export function statusCommand(): Command {
  return addAgentFlags(new Command('status').description('Show the status of a running agent.')).action(
    (flags: AgentFlags) =>
      callAgent(flags, async (agent) => {
        const json = await agent.status();
        return { json, text: async () => (await import('./show/status.ts')).showStatus(json) };
      }),
  );
}

import { Command } from 'commander';
import { type AgentFlags, addAgentFlags, callAgent } from './call.ts';

export function clearCommand(): Command {
  return addAgentFlags(new Command('clear').description('Make a running agent forget all captured requests.')).action(
    (flags: AgentFlags) =>
      callAgent(flags, async (agent) => {
        await agent.clearRequests();
        return { text: () => 'all captured requests are forgotten\n' };
      }),
  );
}

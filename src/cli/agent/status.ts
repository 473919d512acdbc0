import { Command } from 'commander';
import type { AgentStatus } from '../../operator/agent-client/schemas.ts';
import { table } from '../table.ts';
import { type AgentFlags, addAgentFlags, callAgent } from './call.ts';
import { printable } from './show/printable.ts';

export function statusCommand(): Command {
  return addAgentFlags(new Command('status').description('Show the status of a running agent.')).action(
    (flags: AgentFlags) =>
      callAgent(flags, async (agent) => {
        const json = await agent.status();
        return { json, text: () => show(json) };
      }),
  );
}

function show({ status, agent_version: version, session }: AgentStatus): string {
  const legs = session.legs.map(({ region, latency }) => `${region} (${latency})`).join(', ');
  const rows = [
    ['STATUS', 'VERSION', 'LEGS'],
    [status, version, legs],
  ];
  return `${table(rows.map((row) => row.map(printable))).join('\n')}\n`;
}

import { Command } from 'commander';
import { addDefinitionFlags, checked, type DefinitionFlags, definitionOf } from './definition.ts';
import { addRunFlags, runTunnel } from './run.ts';
import type { AgentRunFlags } from './settings.ts';

const help = `Of agent.yml all but its tunnels count.

Example:
  edge-operator agent`;

/** `agent http 8080`: an agent that lives for one tunnel. */
export function tunnelCommand(proto: 'http' | 'tcp' | 'tls'): Command {
  const command = new Command(proto)
    .description(`Run an agent with one ${proto} tunnel.`)
    .addHelpText('after', `\n${help} ${proto} 8080 --name web`);
  return addRunFlags(addDefinitionFlags(command)).action(async (addr: string, flags: DefinitionFlags & AgentRunFlags) =>
    runTunnel(await checked(definitionOf(proto, addr, flags)), flags),
  );
}

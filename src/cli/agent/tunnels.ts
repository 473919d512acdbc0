import { Command } from 'commander';
import { addSubcommands } from '../subcommands.ts';
import { type AgentFlags, addAgentFlags, callAgent } from './call.ts';
import { addDefinitionFlags, type DefinitionFlags, definitionOf } from './definition.ts';
import { showTunnels } from './show/tunnels.ts';

interface StartFlags extends AgentFlags, DefinitionFlags {
  readonly proto: string;
}

export function tunnelsCommand(): Command {
  const command = new Command('tunnels')
    .description('List the tunnels of a running agent; below it: start and stop them.')
    .action(list);
  return addSubcommands(addAgentFlags(command), [listCommand(), startCommand(), stopCommand()]);
}

function listCommand(): Command {
  return addAgentFlags(new Command('list').description('List them.')).action(list);
}

function startCommand(): Command {
  const command = new Command('start')
    .description('Start a tunnel.')
    .option('--proto <proto>', 'http, tcp or tls', 'http')
    .addHelpText('after', '\nExample:\n  edge-operator agent tunnels start 8080 --name web --set host_header=rewrite');
  return addAgentFlags(addDefinitionFlags(command)).action(start);
}

function stopCommand(): Command {
  const command = new Command('stop')
    .description('Stop a tunnel, and cut what is under way in it.')
    .argument('<name>', 'as the list has it');
  return addAgentFlags(command).action(stop);
}

async function list(flags: AgentFlags): Promise<void> {
  await callAgent(flags, async (agent) => {
    const json = await agent.listTunnels();
    return { json, text: () => showTunnels(json.tunnels) };
  });
}

async function start(addr: string, flags: StartFlags): Promise<void> {
  const definition = definitionOf(flags.proto, addr, flags);
  await callAgent(flags, async (agent) => {
    const json = await agent.startTunnel(definition);
    return { json, text: () => showTunnels([json]) };
  });
}

async function stop(name: string, flags: AgentFlags): Promise<void> {
  await callAgent(flags, async (agent) => {
    const outcome = await agent.stopTunnel(name);
    if (outcome === 'absent') throw new Error(`the agent runs no tunnel named ${JSON.stringify(name)}`);
    return { text: () => `tunnel ${JSON.stringify(name)} is stopped\n` };
  });
}

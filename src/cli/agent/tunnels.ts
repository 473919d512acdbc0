import { Command } from 'commander';
import { UsageError } from '../../common/usage.ts';
import type { Tunnel } from '../../operator/agent-client/schemas.ts';
import { collect } from '../flags.ts';
import { type AgentFlags, addAgentFlags, callAgent } from './call.ts';

interface StartFlags extends AgentFlags {
  readonly proto: string;
  readonly name?: string;
  readonly inspect: boolean;
  readonly set?: readonly string[];
}

export function tunnelsCommand(): Command {
  return addAgentFlags(new Command('tunnels').description('List, start and stop the tunnels of a running agent.'))
    .allowExcessArguments()
    .action(list)
    .addCommand(startCommand())
    .addCommand(stopCommand());
}

function startCommand(): Command {
  return new Command('start')
    .description('Start a tunnel.')
    .argument('<addr>', 'where to forward: 8080, host:8080, or for http a URL')
    .option('--proto <proto>', 'http, tcp or tls', 'http')
    .option('--name <name>', 'default: none')
    .option('--no-inspect', 'do not capture requests')
    .option('--set <parameter=value>', 'a further parameter of the definition; repeatable', collect)
    .addHelpText('after', '\nExample:\n  edge-operator tunnels start 8080 --name web --set host_header=rewrite')
    .configureHelp({ showGlobalOptions: true })
    .action((addr: string, _: unknown, command: Command) => start(addr, command.optsWithGlobals<StartFlags>()));
}

function stopCommand(): Command {
  return new Command('stop')
    .description('Stop a tunnel, and cut what is under way in it.')
    .argument('<name>', 'as the list has it')
    .configureHelp({ showGlobalOptions: true })
    .action((name: string, _: unknown, command: Command) => stop(name, command.optsWithGlobals<AgentFlags>()));
}

async function list(flags: AgentFlags, { args: [unknown] }: Command): Promise<void> {
  if (unknown !== undefined) throw new UsageError(`tunnels has no command "${unknown}", only start and stop`);
  await callAgent(flags, async (agent) => {
    const json = await agent.listTunnels();
    return { json, text: () => show(json.tunnels) };
  });
}

async function start(addr: string, flags: StartFlags): Promise<void> {
  const { proto, name, inspect, set = [] } = flags;
  const definition = {
    addr,
    proto,
    ...(name === undefined ? {} : { name }),
    ...(inspect ? {} : { inspect }),
    ...Object.fromEntries(set.map(parameter)),
  };
  await callAgent(flags, async (agent) => {
    const json = await agent.startTunnel(definition);
    return { json, text: () => show([json]) };
  });
}

async function stop(name: string, flags: AgentFlags): Promise<void> {
  await callAgent(flags, async (agent) => {
    const outcome = await agent.stopTunnel(name);
    if (outcome === 'absent') throw new Error(`the agent runs no tunnel named ${JSON.stringify(name)}`);
    return { text: () => `tunnel ${JSON.stringify(name)} is stopped\n` };
  });
}

async function show(tunnels: readonly Tunnel[]): Promise<string> {
  return (await import('./show/tunnels.ts')).showTunnels(tunnels);
}

/** A value that reads as JSON is that, any other is text. */
function parameter(text: string): readonly [string, unknown] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`--set must be parameter=value, not "${text}"`);
  const value = text.slice(at + 1);
  try {
    return [text.slice(0, at), JSON.parse(value)];
  } catch {
    return [text.slice(0, at), value];
  }
}

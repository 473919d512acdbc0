import type { Command } from 'commander';
import type { AgentConfig } from '../../agent/config.ts';
import type { Definition } from '../../agent/tunnels/definition.ts';
import { UsageError } from '../../common/usage.ts';
import { version } from '../../common/version.ts';
import { announcements } from '../announce.ts';
import { stopSignal } from '../stop-signal.ts';
import { openFilesLimit } from './open-files.ts';
import { type AgentRunFlags, cloudOf, configOf, namesOf } from './settings.ts';

/** The flags of the commands that run an agent. */
export function addRunFlags(command: Command): Command {
  return command
    .option('--config <file>', 'agent.yml; without it, no tunnels and the defaults')
    .option('--web-addr <host:port>', 'address of the API and the inspector page (default: "127.0.0.1:4040")')
    .option('--edge-addr <host:port>', 'address that http tunnels share (default: a free port on 127.0.0.1)')
    .option('--cloud-url <url>', 'cloud reference server at which endpoints are registered (default: none)')
    .option('--api-key-file <file>', 'file with the API key for it, re-read when it changes');
}

/** For the answers under way when it is told to stop. */
const patienceMs = 5_000;

/** Runs an agent with the tunnels of its configuration until it is told to stop. */
export async function runAgent(flags: AgentRunFlags): Promise<void> {
  await run(flags, await configOf(flags));
}

/** The same with this tunnel in place of those. */
export async function runTunnel(definition: Definition, flags: AgentRunFlags): Promise<void> {
  await run(flags, { ...(await configOf(flags)), tunnels: [] }, definition);
}

async function run(flags: AgentRunFlags, config: AgentConfig, definition?: Definition): Promise<void> {
  const cloud = await cloudOf(config);
  const [{ startAgent }, { createLogger }] = await Promise.all([
    import('../../agent/agent.ts'),
    import('../../common/logger.ts'),
  ]);
  const log = createLogger({ level: 'info', format: 'text' });
  const agent = await startAgent(config, { version, cloud, openFiles: openFilesLimit(), names: namesOf(flags), log });
  try {
    const tunnel = definition && (await agent.startTunnel(definition).catch(cannotStart));
    const stopped = stopSignal();
    const out = announcements();
    out.write(`Local Agent API and inspector listening on ${agent.url}, http tunnels on ${agent.edgeURL}\n`);
    if (tunnel !== undefined) out.write(`${tunnel.publicURL} forwards to ${tunnel.definition.addr}\n`);
    await stopped;
    await agent.close(patienceMs);
  } catch (error) {
    await agent.close();
    throw error;
  }
}

function cannotStart(cause: Error): never {
  throw new UsageError(`the tunnel cannot be started: ${cause.message}`, { cause });
}

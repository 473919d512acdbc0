import { Command } from 'commander';
import { UsageError } from '../../common/usage.ts';
import { type AgentFlags, addAgentFlags, callAgent } from './call.ts';
import { showCapturedRequest } from './show/captured-request.ts';
import { showRequests } from './show/requests.ts';

interface Flags extends AgentFlags {
  readonly limit?: string;
  readonly tunnel?: string;
}

const defaultLimit = 50;

export function requestsCommand(): Command {
  return addAgentFlags(
    new Command('requests')
      .description('List the requests that a running agent captured, or show one with headers and bodies.')
      .argument('[id]', 'of the captured request to show')
      .option('--limit <n>', `the newest so many (default: ${defaultLimit})`)
      .option('--tunnel <name>', 'only those that came through this tunnel'),
  )
    .addHelpText('after', '\nExample:\n  edge-operator agent requests --tunnel web --limit 10')
    .action((id: string | undefined, flags: Flags) => (id === undefined ? list(flags) : show(id, flags)));
}

async function list(flags: Flags): Promise<void> {
  const filter = { limit: limit(flags.limit), tunnelName: flags.tunnel };
  await callAgent(flags, async (agent) => {
    const json = await agent.listRequests(filter);
    return { json, text: () => showRequests(json) };
  });
}

async function show(id: string, flags: Flags): Promise<void> {
  if (flags.limit !== undefined || flags.tunnel !== undefined) {
    throw new UsageError('--limit and --tunnel are for the list, not for one request by its id');
  }
  await callAgent(flags, async (agent) => {
    const json = await agent.getRequest(id);
    if (json === undefined) throw new Error(`the agent holds no captured request with the id ${JSON.stringify(id)}`);
    return { json, text: () => showCapturedRequest(json) };
  });
}

function limit(text = String(defaultLimit)): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`--limit must be a whole number of at least 1, not "${text}"`);
}

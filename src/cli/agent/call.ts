import { type Command, Option } from 'commander';
import type { ApiError } from '../../common/http/errors.ts';
import { systemRuntime } from '../../common/runtime.ts';
import { UsageError } from '../../common/usage.ts';
import { userAgent } from '../../common/version.ts';
import type { AgentClient } from '../../operator/agent-client/client.ts';
import { print } from '../print.ts';

export interface AgentFlags {
  readonly agentUrl: string;
  readonly output: 'table' | 'json';
}

/** What a call came to. */
export interface Result {
  /** As the API answered it; absent where that has no body, and nothing is found out beside it. */
  readonly json?: unknown;
  /** For people, made when they are to read it. */
  readonly text: () => string;
}

/** The flags of the commands that call an agent. */
export function addAgentFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--agent-url <url>', 'of the agent').default('http://127.0.0.1:4040').env('EDGE_OPERATOR_AGENT_URL'),
    )
    .addOption(
      new Option('-o, --output <format>', 'table, or json as the API answered it')
        .choices(['table', 'json'])
        .default('table'),
    );
}

/** Calls the agent and prints what it answered. */
export async function callAgent(flags: AgentFlags, call: (agent: AgentClient) => Promise<Result>): Promise<void> {
  const { json = {}, text } = await answered(flags, call);
  await print(flags.output === 'json' ? jsonText(json) : text());
}

async function answered({ agentUrl }: AgentFlags, call: (agent: AgentClient) => Promise<Result>): Promise<Result> {
  const [{ AgentClient }, { ApiError }] = await Promise.all([
    import('../../operator/agent-client/client.ts'),
    import('../../common/http/errors.ts'),
  ]);
  const agent = open(() => new AgentClient({ ...systemRuntime, url: agentUrl, userAgent }));
  try {
    return await call(agent);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new Error(`agent ${agentUrl}: ${error.message}${hintTo(error)}`, { cause: error });
  } finally {
    await agent.close();
  }
}

function hintTo({ reason, status, operation, isTooLarge }: ApiError): string {
  if (reason === 'Unreachable' && status === undefined) return '; is it running there? (--agent-url)';
  // It has the bodies of all.
  return isTooLarge && operation === 'requests.list' ? '; --limit asks for fewer' : '';
}

function open(make: () => AgentClient): AgentClient {
  try {
    return make();
  } catch (cause) {
    if (cause instanceof TypeError)
      throw new UsageError(`--agent-url (or EDGE_OPERATOR_AGENT_URL): ${cause.message}`, { cause });
    throw cause;
  }
}

/** JSON leaves the characters from DEL on as they are, and a terminal obeys some of them. */
function jsonText(value: unknown): string {
  const text = JSON.stringify(value, undefined, 2);
  return `${text.replace(/[\x7f-\x9f]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`)}\n`;
}

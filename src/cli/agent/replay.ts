import { Command } from 'commander';
import type { ApiError } from '../../common/http/errors.ts';
import type { AgentClient } from '../../operator/agent-client/client.ts';
import { type AgentFlags, addAgentFlags, callAgent, type Result } from './call.ts';
import { printable } from './show/printable.ts';

interface Flags extends AgentFlags {
  readonly tunnel?: string;
}

/** How many of the newest are looked at: each has its bodies with it, and of large ones an answer holds but few. */
const counts = [10, 2];

export function replayCommand(): Command {
  return addAgentFlags(
    new Command('replay')
      .description('Make a running agent send a captured request to the local server again.')
      .argument('<id>', 'of the captured request')
      .option('--tunnel <name>', 'tunnel to send it through; default the one it came through'),
  )
    .addHelpText(
      'after',
      '\nIt prints the id of the new captured request, where that can be found: how it\ngoes is there.',
    )
    .action((id: string, flags: Flags) => callAgent(flags, (agent) => replay(agent, id, flags.tunnel)));
}

export async function replay(
  agent: Pick<AgentClient, 'listRequests' | 'replay'>,
  id: string,
  tunnelName?: string,
): Promise<Result> {
  const before = await replaysOf(agent, id, counts);
  await agent.replay({ id, tunnelName });
  // Not among more than before, where older replays would pass for new ones.
  const after = before && (await replaysOf(agent, id, before.counts));
  const [made, ...others] = after?.ids.filter((one) => !before?.ids.includes(one)) ?? [];
  // Of two it cannot be known whose is whose.
  return others.length > 0 || made === undefined ? onItsWay(id) : replayedAs(id, made);
}

interface Found {
  readonly ids: readonly string[];
  /** Of what was looked at, and what else could have been. */
  readonly counts: readonly number[];
}

/**
 * Those among the newest that are replays of this one: the answer to a replay does not say what became of it.
 * Undefined where they cannot be listed, which takes nothing from the replay.
 */
async function replaysOf(
  agent: Pick<AgentClient, 'listRequests'>,
  id: string,
  [limit, ...fewer]: readonly number[],
): Promise<Found | undefined> {
  if (limit === undefined) return undefined;
  try {
    const { requests } = await agent.listRequests({ limit });
    const ids = requests.filter(({ replay_of: original }) => original === id).map((request) => request.id);
    return { ids, counts: [limit, ...fewer] };
  } catch (error) {
    return (error as Partial<ApiError>).isTooLarge ? replaysOf(agent, id, fewer) : undefined;
  }
}

function replayedAs(id: string, made: string): Result {
  const shown = printable(made);
  const text = () =>
    `${JSON.stringify(id)} is replayed as ${shown}; how it goes: edge-operator agent requests ${shown}\n`;
  return { json: { id: made }, text };
}

function onItsWay(id: string): Result {
  const text = () =>
    `${JSON.stringify(id)} is on its way; how it goes is the newest of: edge-operator agent requests\n`;
  return { text };
}

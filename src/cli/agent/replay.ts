import { Command } from 'commander';
import type { AgentClient } from '../../operator/agent-client/client.ts';
import { type AgentFlags, addAgentFlags, callAgent, type Result } from './call.ts';
import { printable } from './show/printable.ts';

interface Flags extends AgentFlags {
  readonly tunnel?: string;
}

/** Each has its bodies with it. */
const newest = 10;

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
    .action((id: string, flags: Flags) =>
      callAgent(flags, async (agent) => {
        const before = await replaysOf(agent, id);
        await agent.replay({ id, tunnelName: flags.tunnel });
        const after = before && (await replaysOf(agent, id));
        const [made, ...others] = after?.filter((one) => !before?.includes(one)) ?? [];
        // Of two it cannot be known whose is whose.
        return others.length > 0 || made === undefined ? onItsWay(id) : replayedAs(id, made);
      }),
    );
}

/**
 * Ids of those among the newest that are replays of this one: the answer to a replay does not say what became of it.
 * Undefined where they cannot be listed, which takes nothing from the replay.
 */
async function replaysOf(agent: AgentClient, id: string): Promise<readonly string[] | undefined> {
  const list = await agent.listRequests({ limit: newest }).catch(() => undefined);
  return list?.requests.filter(({ replay_of: original }) => original === id).map((request) => request.id);
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

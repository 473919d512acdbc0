import { describe, expect, test } from '@jest/globals';
import type { ManagedObject } from '../../../reconcile/resource/resource.ts';
import { RefusedError } from '../../../reconcile/status/outcome.ts';
import type { Agents } from '../registry/agents.ts';
import { replayableAgent } from './permission.ts';

interface Given {
  readonly shared: boolean;
  /** Names of tunnels that the namespace made. */
  readonly made?: readonly string[];
  /** The tunnel that the request came through; none where the agent has no such request. */
  readonly through?: string | undefined;
  readonly asked?: string | undefined;
}

async function check({ shared, made = [], through, asked }: Given): Promise<'allowed' | 'refused'> {
  const object = { metadata: { name: 'r', namespace: 'team' }, spec: {} } as unknown as ManagedObject;
  const client = { getRequest: async () => (through === undefined ? undefined : { tunnel_name: through }) };
  const agents = {
    of: () => ({ url: 'http://agent', client }),
    isShared: (url: string, namespace: string) => shared && url === 'http://agent' && namespace === 'team',
    hasMade: (_namespace: string, _url: string, name: string) => made.includes(name),
  } as unknown as Agents;
  return replayableAgent(agents, object)
    .check({ id: 'req_1', tunnelName: asked })
    .then(
      () => 'allowed' as const,
      (error: unknown) => {
        expect(error).toBeInstanceOf(RefusedError);
        return 'refused' as const;
      },
    );
}

describe('a replay', () => {
  test.each<[why: string, given: Given, outcome: string]>([
    ['in an agent of its own namespace alone', { shared: false, through: 'any', asked: 'other' }, 'allowed'],
    ['of a request through a tunnel of its namespace', { shared: true, made: ['web'], through: 'web' }, 'allowed'],
    ['through another tunnel of it', { shared: true, made: ['web', 'b'], through: 'web', asked: 'b' }, 'allowed'],
    ["of another namespace's request", { shared: true, made: ['web'], through: 'theirs' }, 'refused'],
    [
      "of another namespace's request to an own tunnel",
      { shared: true, made: ['web'], through: 'x', asked: 'web' },
      'refused',
    ],
    ["to another namespace's tunnel", { shared: true, made: ['web'], through: 'web', asked: 'theirs' }, 'refused'],
    ['of a request that is not there', { shared: true }, 'allowed'],
    ["of one that is not there, to another's tunnel", { shared: true, asked: 'theirs' }, 'refused'],
  ])('%s', async (_, given, outcome) => expect(await check(given)).toBe(outcome));
});

import { describe, expect, test } from '@jest/globals';
import { OneAtATime } from '../../../../common/one-at-a-time.ts';
import type { ManagedObject } from '../../../reconcile/resource/resource.ts';
import { DependencyError, RefusedError } from '../../../reconcile/status/outcome.ts';
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
  return replayableAgent(agents, object, new OneAtATime())
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

const paused = (): never => {
  throw new DependencyError('Agent team/dev is paused');
};

test.each([
  ['was paused', paused, 'Agent team/dev is paused'],
  ['has another address', () => ({ url: 'http://other' }), 'the Agent is at http://agent no longer'],
])('nothing is replayed where the Agent %s while what was captured was read', async (_, meanwhile, why) => {
  let replayed = 0;
  const replay = async () => {
    replayed += 1;
  };
  const connection = { url: 'http://agent', client: { replay } };
  let of: () => object = () => connection;
  const object = { metadata: { name: 'r', namespace: 'team' }, spec: {} } as unknown as ManagedObject;
  const agent = replayableAgent({ of: () => of() } as unknown as Agents, object, new OneAtATime());
  await agent.replay({ id: 'req_1' });
  of = meanwhile;
  const error: unknown = await agent.replay({ id: 'req_1' }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(DependencyError);
  expect(error).toHaveProperty('message', why);
  expect(replayed).toBe(1);
});

test('of a namespace one capture is read at a time, whatever is asked for, and it holds up no other namespace', async () => {
  const captures = new OneAtATime();
  const answers: (() => void)[] = [];
  const getRequest = () => new Promise<undefined>((resolve) => answers.push(() => resolve(undefined)));
  const agents = { of: () => ({ url: 'http://agent', client: { getRequest } }), isShared: () => true };
  const check = (namespace: string) => {
    const object = { metadata: { name: 'r', namespace }, spec: {} } as unknown as ManagedObject;
    return replayableAgent(agents as unknown as Agents, object, captures).check({ id: 'req_1' });
  };
  const all = [check('team'), check('team'), check('other')];
  await new Promise(setImmediate);
  expect(answers).toHaveLength(2);
  answers[0]?.();
  await all[0];
  await new Promise(setImmediate);
  expect(answers).toHaveLength(3);
  for (const answer of answers) answer();
  await Promise.all(all);
});

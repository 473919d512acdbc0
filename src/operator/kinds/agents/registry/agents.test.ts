import { beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../../common/clock.ts';
import type { Change, ChangeHandler } from '../../../controller/informer.ts';
import { AllowedHosts } from '../../../reconcile/addresses/hosts.ts';
import type { ManagedObject } from '../../../reconcile/resource/resource.ts';
import { AgentConnection } from './agent-connection.ts';
import { Agents } from './agents.ts';

const url = 'http://agent.example.test';
const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z' };

let agents: Agents;
let emit: (change: Pick<Change<ManagedObject>, 'type' | 'object'>) => void;
let resources: Parameters<Agents['follow']>[0];
let opened: string[];
/** The namespaces that those were opened for. */
let users: string[];
let woken: string[];

beforeEach(() => {
  [opened, users, woken] = [[], [], []];
  agents = new Agents({
    monotonic: systemClock,
    hosts: new AllowedHosts(['agent.example.test', 'other.example.test'], 'is not in --allowed-agent-hosts'),
    open: ({ url: at }, { namespace, ...hooks }) => {
      opened.push(at);
      users.push(namespace);
      const random = () => 1;
      return new AgentConnection({
        url: at,
        userAgent: 'test',
        clock: systemClock,
        monotonic: systemClock,
        random,
        retryMs: 1_000,
        ...hooks,
      });
    },
    enqueue: () => {},
    enqueueDependents: (key) => woken.push(key),
  });
  let handler: ChangeHandler<ManagedObject> = () => {};
  resources = {
    onChange: (given) => (handler = given),
    whenSynced: async () => {},
    synced: true,
    missing: false,
    refused: [],
  };
  agents.follow(resources);
  emit = (change) => handler({ ...change, initial: false } as Change<ManagedObject>);
});

function agentObject(spec: object = { url }, metadata: object = {}, ready?: 'True' | 'False'): ManagedObject {
  const condition = { type: 'Ready', status: ready, reason: 'Any', message: '', lastTransitionTime: '' };
  return {
    apiVersion: 'edge-operator.dev/v1alpha1',
    kind: 'Agent',
    metadata: { name: 'edge', namespace: 'team', ...metadata },
    spec: spec as ManagedObject['spec'],
    ...(ready === undefined ? {} : { status: { conditions: [condition as never] } }),
  };
}
const follow = (...args: Parameters<typeof agentObject>) => emit({ type: 'update', object: agentObject(...args) });
const tunnel = (name = 'edge', namespace = 'team'): ManagedObject => ({
  apiVersion: 'edge-operator.dev/v1alpha1',
  kind: 'AgentTunnel',
  metadata: { name: 'web', namespace },
  spec: { agentRef: { name } },
});

test('a resource finds agents of its own namespace only', () => {
  follow();
  expect(agents.of(tunnel()).url).toBe(url);
  expect(() => agents.of(tunnel('edge', 'foreign'))).toThrow('Agent foreign/edge does not exist');
});

describe('why it cannot be used', () => {
  const cases: readonly [why: string, object: ManagedObject, message: RegExp][] = [
    [
      'a host that is not allowed',
      agentObject({ url: 'http://evil.test' }),
      /cannot be used: spec\.url: the host evil/,
    ],
    ['a spec that the CRD would refuse', agentObject({}), /cannot be used: spec: needs exactly one of/],
    ['being deleted', agentObject({ url }, deleting), /is being deleted$/],
    ['paused', agentObject({ url }, { annotations: { 'edge-operator.dev/paused': 'true' } }), /is paused by/],
  ];
  test.each(cases)('%s', (_why, object, message) => {
    emit({ type: 'add', object });
    expect(() => agents.of(tunnel())).toThrow(message);
  });
});

test('one client for as long as the address is the same', () => {
  follow();
  const first = agents.of(tunnel());
  follow({ url }, { generation: 2 }, 'True');
  expect(agents.of(tunnel())).toBe(first);
  follow({ url: 'http://other.example.test' });
  expect(agents.of(tunnel()).url).toBe('http://other.example.test');
  expect(opened).toHaveLength(2);
});

test('users are woken when the agent comes, goes, moves, is away or back, and not otherwise', () => {
  const steps: readonly [() => void, boolean][] = [
    [() => follow(), true],
    [() => follow({ url }, {}, 'True'), true],
    [() => follow({ url }, { generation: 2 }, 'True'), false],
    [() => follow({ url }, {}, 'False'), true],
    [() => follow({ url }, {}, 'True'), true],
    [() => follow({ serviceRef: { name: 'edge', port: 4040 } }, {}, 'True'), true],
    [() => follow({ url }, deleting, 'True'), true],
    [() => emit({ type: 'delete', object: agentObject() }), true],
  ];
  for (const [step, wakes] of steps) {
    woken.length = 0;
    step();
    expect(woken).toEqual(wakes ? ['team/edge'] : []);
  }
});

test('an address is in use for as long as an Agent that is there to stay has it', () => {
  follow();
  expect(agents.isInUse(url)).toBe(true);
  expect(agents.isInUse(`${url}:80/api/`)).toBe(true);
  follow({ url }, deleting);
  expect(agents.isInUse(url)).toBe(false);
});

test('an agent is shared with other namespaces whose Agents lead there, and nobody’s alone until all are read', () => {
  follow();
  expect(agents.isShared(url, 'team')).toBe(false);
  expect(agents.isShared(url, 'other')).toBe(true);
  Object.assign(resources, { synced: false });
  expect(() => agents.isShared(url, 'team')).toThrow('the Agents are not read yet');
});

test('a pause of the Agent that a resource names holds wherever it leads to by now', () => {
  expect(() => agents.checkPause(tunnel())).not.toThrow();
  follow({ url: 'http://other.example.test' }, { annotations: { 'edge-operator.dev/paused': 'true' } });
  expect(() => agents.checkPause(tunnel())).toThrow(/^Agent team\/edge is paused by/);
  follow();
  expect(() => agents.checkPause(tunnel())).not.toThrow();
});

describe('a visit', () => {
  test('is to the agent that is known, or to one for the time of the visit', async () => {
    follow();
    const known = agents.of(tunnel());
    await agents.visit(url, 'team', async (agent) => expect(agent).toBe(known));
    await agents.visit('http://gone.team.svc:4040', 'team', async (agent) => expect(agent.url).toMatch(/gone/));
    expect(opened).toEqual([url, 'http://gone.team.svc:4040']);
  });

  test('is by no connection of another namespace, in whose turns it would wait', async () => {
    follow({ url }, { namespace: 'foreign' });
    await agents.visit(url, 'team', async () => {});
    expect(users).toEqual(['foreign', 'team']);
    follow({ url });
    await agents.visit(url, 'team', async (agent) => expect(agent).toBe(agents.of(tunnel())));
  });

  test('is not where all Agents of the namespace that lead there are paused, whatever those of others are', async () => {
    const paused = { annotations: { 'edge-operator.dev/paused': 'true' } };
    const visit = () => agents.visit(url, 'team', async () => 'there');
    follow({ url }, { namespace: 'foreign', ...paused });
    expect(await visit()).toBe('there');
    follow({ url: `${url}:80` }, paused);
    follow({ url }, { namespace: 'foreign' });
    await expect(visit()).rejects.toThrow(/the Agent of .* is paused by/);
    follow({ url }, { name: 'other' });
    expect(await visit()).toBe('there');
  });

  test('is never to an address that no request may go to, whatever an annotation says', async () => {
    const visit = agents.visit('http://169.254.169.254', 'team', async () => expect(false).toBe(true));
    await expect(visit).rejects.toThrow(/no request may go to .*--allowed-agent-hosts.*force-orphan/);
    expect(opened).toEqual([]);
  });
});

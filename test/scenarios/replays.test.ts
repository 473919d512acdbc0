import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { annotation } from '../../src/operator/reconcile/resource/annotations.ts';
import { conditionOf, type ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import { type LocalServer, startLocal, startTestAgent, type TestAgent } from '../agent/support.ts';
import {
  type GateProxy,
  kubeconfigThrough,
  type ProxiedRequest,
  type Side,
  startGateProxy,
} from '../support/gate-proxy.ts';
import { type OperatorProcess, startOperatorProcess } from '../support/operator-process.ts';
import { claimPorts, type Ports } from '../support/ports.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';

/*
 * RequestReplay: a captured request is sent once more, whatever happens to operator and agent. What counts is what the
 * local server behind the agent saw.
 */

let world: World;
let local: LocalServer;
let agent: TestAgent;
let publicURL: string;
/** In front of the agent. */
let proxy: GateProxy;
let claim: Ports;
let operator: OperatorProcess;
let namespace: string;
const hits = new Map<string, number>();
const hitsOf = (path: string) => hits.get(path) ?? 0;

beforeAll(async () => {
  local = await startLocal(({ url = '' }, response) => {
    hits.set(url, hitsOf(url) + 1);
    response.end();
  });
  [world, agent] = await Promise.all([startWorld(), startTestAgent()]);
  publicURL = (await agent.tunnel({ name: 'web', proto: 'http', addr: local.addr })).public_url;
  claim = await claimPorts(1);
  proxy = await openProxy();
  operator = startOperator();
  // One for all: of an agent that namespaces share only requests through tunnels of their own are replayed.
  namespace = await world.namespace();
});
afterAll(async () => {
  await operator.stop('SIGKILL');
  await Promise.all([world.stop(), proxy.close(), agent.close()]);
  await Promise.all([local.stop(), claim.release()]);
});

const openProxy = () => startGateProxy(agent.url, { port: claim.ports[0] ?? 0 });

function startOperator(kubeconfig = world.kube.kubeconfig): OperatorProcess {
  const args = ['--allowed-agent-hosts', new URL(proxy.url).host];
  return startOperatorProcess({ kubeconfig, apiURL: world.cloud.url, apiKey: world.cloud.apiKey, args });
}

/** A request through the tunnel, and its id as a captured request. */
async function capture(path: string): Promise<string> {
  await agent.visit(publicURL + path);
  const found = await until('the capture', async () =>
    (await agent.captures()).find(({ request }) => request.uri === path),
  );
  return found.id;
}

/** Once through the tunnel, then by replays. */
const replaysOf = (path: string) => hitsOf(path) - 1;

let replays = 0;
const nextName = () => `again-${replays++}`;

async function applyReplay(requestID: string, more: object = {}, name = nextName()): Promise<ManagedObject> {
  await world.apply('Agent', namespace, 'dev', { url: proxy.url });
  return world.apply('RequestReplay', namespace, name, { agentRef: { name: 'dev' }, requestID, ...more });
}

function finished(object: ManagedObject): Promise<ManagedObject> {
  return until(`the replay ${object.metadata.name} to be finished`, async () => {
    const found = await world.get(object);
    return found?.status?.completedAt !== undefined && found;
  });
}

const summary = ({ status }: ManagedObject) =>
  status?.conditions?.map(({ type, status: is, reason }) => `${type}=${is} ${reason}`);
const complete = ['Ready=True Available', 'Complete=True Available'];
const failed = (reason: string) => [`Ready=False ${reason}`, `Stalled=True ${reason}`, `Failed=True ${reason}`];

test('a request is replayed once; what comes after changes nothing, and calls nobody', async () => {
  const id = await capture('/once');
  const done = await finished(await applyReplay(id));
  expect(summary(done)).toEqual(complete);
  expect(Date.parse(String(done.status?.completedAt))).toBeGreaterThan(0);
  expect((await agent.captures()).filter((captured) => captured.replay_of === id)).toHaveLength(1);
  expect(replaysOf('/once')).toBe(1);
  expect(done.metadata.finalizers).toBeUndefined();

  await world.annotate(done, { [annotation.paused]: 'true', [annotation.reconcileAt]: 'now' });
  const echoed = await until('the echo', async () => {
    const found = await world.get(done);
    return found?.status?.lastHandledReconcileAt === 'now' && found;
  });
  expect(summary(echoed)).toEqual(complete);
  await world.eventsOf(done, 'Replayed');
  expect((await world.events(done)).map(({ reason }) => reason)).toEqual(['Replayed']);

  await operator.stop();
  const [dev] = await world.list('Agent', namespace);
  if (dev === undefined) throw new Error('there is no Agent');
  await world.delete(dev);
  operator = startOperator();
  await world.gone(dev);
  expect((await world.get(done))?.status).toEqual(echoed.status);
  expect(replaysOf('/once')).toBe(1);
});

test('an agent that is away is waited for, without a write but the status', async () => {
  const id = await capture('/away');
  await proxy.close();
  const replay = await applyReplay(id, { tunnelName: 'web' });
  const waiting = await until('the replay to wait', async () => {
    const found = await world.get(replay);
    return found !== undefined && conditionOf(found, 'Ready')?.reason === 'Unreachable' && found;
  });
  expect(conditionOf(waiting, 'Reconciling')?.status).toBe('True');
  expect(waiting.metadata.annotations?.[annotation.replayIntent]).toBeUndefined();
  proxy = await openProxy();
  expect(summary(await finished(replay))).toEqual(complete);
  expect(replaysOf('/away')).toBe(1);
});

test('an answer that is lost leaves it unknown, and nothing is repeated', async () => {
  const id = await capture('/lost');
  const held = proxy.hold('after', isReplayOf(id));
  const replay = await applyReplay(id);
  await held;
  proxy.cut();
  const done = await finished(replay);
  expect(summary(done)).toEqual(failed('OutcomeUnknown'));
  expect(conditionOf(done, 'Ready')?.message).toContain('(requests.replay: the connection ');
  expect(replaysOf('/lost')).toBe(1);
});

test.each([
  ['an unknown request', {}, 'no captured request has the id "req_none"'],
  ['an unknown tunnel', { tunnelName: 'none' }, 'no tunnel named "none" is running'],
])('%s is refused by the agent: it has failed, with what the agent said', async (_, more, message) => {
  const id = 'tunnelName' in more ? await capture('/refused') : 'req_none';
  const done = await finished(await applyReplay(id, more));
  expect(summary(done)).toEqual(failed('ExternalNotFound'));
  expect(conditionOf(done, 'Ready')?.message).toContain(message);
  expect(done.metadata.annotations?.[annotation.replayIntent]).toBeUndefined();
  await world.eventsOf(done, 'Failed');
});

test('it is removed after its time, also by an operator that was started meanwhile', async () => {
  const id = await capture('/ttl');
  const done = await finished(await applyReplay(id, { ttlSecondsAfterFinished: 2 }));
  await operator.stop('SIGKILL');
  expect(await world.get(done)).toBeDefined();
  operator = startOperator();
  await world.gone(done);
  expect(Date.now() - Date.parse(String(done.status?.completedAt))).toBeGreaterThanOrEqual(2_000);
  expect(replaysOf('/ttl')).toBe(1);
});

interface Step {
  readonly name: string;
  readonly at: 'kubernetes' | 'agent';
  readonly side: Side;
  /** Of the replay of this request, by this name. */
  readonly matches: (id: string, name: string) => (request: ProxiedRequest) => boolean;
  readonly replays: number;
  readonly conditions: readonly string[];
}

const patchOf = (text: string) => (_: string, name: string) => (request: ProxiedRequest) =>
  request.method === 'PATCH' && request.path.includes(`/requestreplays/${name}`) && request.body.includes(text);
const isIntent = patchOf(annotation.replayIntent);
const isStatus = patchOf('"completedAt"');

function isReplayOf(id: string): (request: ProxiedRequest) => boolean {
  return ({ method, body }) => method === 'POST' && body.includes(id);
}

const unknown = failed('OutcomeUnknown');
const steps: readonly Step[] = [
  { name: 'before the intent', at: 'kubernetes', side: 'before', matches: isIntent, replays: 1, conditions: complete },
  { name: 'after the intent', at: 'kubernetes', side: 'after', matches: isIntent, replays: 0, conditions: unknown },
  { name: 'before the replay', at: 'agent', side: 'before', matches: isReplayOf, replays: 0, conditions: unknown },
  { name: 'after the replay', at: 'agent', side: 'after', matches: isReplayOf, replays: 1, conditions: unknown },
  { name: 'before the status', at: 'kubernetes', side: 'before', matches: isStatus, replays: 1, conditions: unknown },
  { name: 'after the status', at: 'kubernetes', side: 'after', matches: isStatus, replays: 1, conditions: complete },
];

describe('an operator that is killed', () => {
  let results: ReadonlyMap<string, { readonly object: ManagedObject; readonly replays: number }>;

  // One operator that hangs at every step at once, with a replay for each.
  beforeAll(async () => {
    await operator.stop();
    const kube = await startGateProxy(world.kube.url);
    const config = kubeconfigThrough(kube, world.kube.kubeconfig);
    operator = startOperator(config.path);
    const held = await Promise.all(steps.map((step) => holdAt(step, kube)));
    await Promise.all(held.map(({ reached }) => reached));
    await operator.stop('SIGKILL');
    operator = startOperator();
    const ended = held.map(async ({ step, path, object }) => {
      const result = { object: await finished(object), replays: replaysOf(path) };
      return [step.name, result] as const;
    });
    results = new Map(await Promise.all(ended));
    await kube.close();
    config.remove();
  });

  test.each(steps)('$name: never twice, and the status tells the truth', ({ name, replays, conditions }) => {
    const result = results.get(name);
    expect(result?.replays).toBe(replays);
    expect(result && summary(result.object)).toEqual(conditions);
  });
});

async function holdAt(step: Step, kube: GateProxy) {
  const name = nextName();
  const path = `/killed/${encodeURIComponent(step.name)}`;
  const id = await capture(path);
  const gate = step.at === 'kubernetes' ? kube : proxy;
  const reached = gate.hold(step.side, step.matches(id, name));
  return { step, path, reached, object: await applyReplay(id, {}, name) };
}

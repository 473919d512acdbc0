import { systemRuntime } from '../../src/common/runtime.ts';
import { AgentClient } from '../../src/operator/agent-client/client.ts';
import { annotation } from '../../src/operator/reconcile/resource/annotations.ts';
import { conditionOf, type ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import type { ProxiedRequest } from '../support/gate-proxy.ts';
import { visit } from '../support/local-agent.ts';
import { until } from '../support/until.ts';
import type { Intercept, Lab, LabAgent } from './lab.ts';
import { type Drive, type KindStates, never } from './states.ts';

/* How the kinds that work with a local agent come into their states. Each has Agents of its own in every lab. */

const paused = { annotations: { [annotation.paused]: 'true' } };
const calls = (method: string) => (request: ProxiedRequest) => request.method === method;
const any = () => true;

/** Of an agent that refuses what the gate matches, such as a Host header. */
const refusing = (matches: (request: ProxiedRequest) => boolean) => async (request: ProxiedRequest) =>
  matches(request) ? { status: 403, body: { error_code: 104, status_code: 403, msg: 'forbidden' } } : undefined;

/** What every kind here has in common. */
const neverOfAgents = never('agents have no such answer', 'rate-limited', 'busy');

async function saying({ world }: Lab, object: ManagedObject, message: RegExp): Promise<ManagedObject> {
  return until(`${object.kind}: ${message}`, async () => {
    const found = await world.get(object);
    return found !== undefined && message.test(conditionOf(found, 'Ready')?.message ?? '') && found;
  });
}

/** The resource while a call to its agent is held. */
async function held(
  { world }: Lab,
  { gate }: LabAgent,
  matches: (request: ProxiedRequest) => boolean,
  act: () => Promise<ManagedObject>,
): Promise<ManagedObject> {
  const call = gate.hold('before', matches);
  const object = await act();
  await call;
  return (await world.get(object)) ?? object;
}

function agent(): KindStates {
  const kind = 'Agent';
  const ready = async (lab: Lab) => {
    const { url } = await lab.agent();
    return lab.world.reason(await lab.apply(kind, { url }), 'Available');
  };
  return {
    kind,
    drives: {
      new: (lab) => lab.apply(kind, { url: lab.nobody }),
      creating: async (lab) => {
        const one = await lab.agent();
        return held(lab, one, any, () => lab.apply(kind, { url: one.url }));
      },
      ready,
      updating: async (lab) => {
        await ready(lab);
        const other = await lab.agent();
        return held(lab, other, any, () => lab.apply(kind, { url: other.url }));
      },
      rejected: async (lab) => {
        await ready(lab);
        return lab.world.reason(await lab.apply(kind, { url: 'https://agent.example.com' }), 'Rejected');
      },
      unauthorized: async (lab) => {
        const { url } = await lab.agent(refusing(any));
        return lab.world.reason(await lab.apply(kind, { url }), 'Unauthorized');
      },
      unreachable: async (lab) => lab.world.reason(await lab.apply(kind, { url: lab.nobody }), 'Unreachable'),
      paused: async (lab) => lab.world.reason(await lab.apply(kind, { url: lab.nobody }, paused), 'Paused'),
      deleting: async (lab) => {
        const object = await ready(lab);
        const tunnel = { agentRef: { name: object.metadata.name }, proto: 'http', addr: '8080' };
        await lab.world.reason(await lab.apply('AgentTunnel', tunnel, { name: 'user' }), 'Available');
        await lab.world.delete(object);
        return lab.world.reason(object, 'Deleting');
      },
      ...neverOfAgents,
      ...never('nothing is made for it', 'looking-up', 'ambiguous-create', 'outcome-unknown'),
      ...never('nothing stands for it', 'external-not-found', 'drift', 'deleting-stalled'),
      ...never('several may lead to one agent', 'conflict'),
      ...never('a Service that is missing is an agent that is away', 'dependency-not-ready'),
    },
  };
}

/** Applies an Agent under this name, and waits until it is there. */
async function applyAgent(lab: Lab, name: string, intercept?: Intercept): Promise<LabAgent> {
  const open = await lab.agent(intercept);
  await lab.world.reason(await lab.apply('Agent', { url: open.url }, { name }), 'Available');
  return open;
}

/** Of a resource whose Agent has an address at which nobody listens. */
const away =
  (kind: string, spec: { readonly agentRef: { readonly name: string } }): Drive =>
  async (lab) => {
    await lab.apply('Agent', { url: lab.nobody }, { name: spec.agentRef.name });
    return lab.world.reason(await lab.apply(kind, spec), 'Unreachable');
  };

function agentTunnel(): KindStates {
  const kind = 'AgentTunnel';
  const agentRef = { name: 'of-tunnels' };
  const spec = { agentRef, proto: 'http', addr: '8080', options: { subdomain: 'shop' } };
  const ready = async (lab: Lab, intercept?: Intercept) => {
    const open = await applyAgent(lab, agentRef.name, intercept);
    const object = await lab.world.reason(await lab.apply(kind, spec), 'Available');
    return { open, object };
  };
  return {
    kind,
    drives: {
      new: ({ apply }) => apply(kind, spec),
      creating: async (lab) => {
        const open = await applyAgent(lab, agentRef.name);
        return held(lab, open, calls('POST'), () => lab.apply(kind, spec));
      },
      ready: async (lab) => (await ready(lab)).object,
      updating: async (lab) => {
        const { open } = await ready(lab);
        return held(lab, open, calls('DELETE'), () => lab.apply(kind, { ...spec, addr: '8081' }));
      },
      rejected: async (lab) => {
        await ready(lab);
        const refused = { ...spec, options: { colour: 'red' } };
        return lab.world.reason(await lab.apply(kind, refused), 'Rejected');
      },
      unauthorized: async (lab) => {
        await applyAgent(lab, agentRef.name, refusing(calls('POST')));
        return lab.world.reason(await lab.apply(kind, spec), 'Unauthorized');
      },
      unreachable: away(kind, spec),
      'dependency-not-ready': async ({ world, apply }) => world.reason(await apply(kind, spec), 'DependencyNotReady'),
      conflict: async (lab) => {
        await applyAgent(lab, agentRef.name);
        const named = { ...spec, tunnelName: 'web' };
        await lab.world.reason(await lab.apply(kind, named, { name: 'another' }), 'Available');
        return lab.world.reason(await lab.apply(kind, named), 'Conflict');
      },
      paused: async ({ world, apply }) => world.reason(await apply(kind, spec, paused), 'Paused'),
      deleting: async (lab) => {
        const { open, object } = await ready(lab);
        await open.gate.close();
        await lab.world.delete(object);
        return saying(lab, object, /^deleting: .*refused/);
      },
      'deleting-stalled': async (lab) => {
        const { object } = await ready(lab, refusing(calls('DELETE')));
        await lab.world.delete(object);
        return lab.world.reason(object, 'Unauthorized');
      },
      ...neverOfAgents,
      ...never('tunnels are found by their names', 'looking-up', 'ambiguous-create', 'outcome-unknown'),
      ...never('what vanished or changed is started anew; there is no Observe', 'external-not-found', 'drift'),
    },
  };
}

function requestReplay(): KindStates {
  const kind = 'RequestReplay';
  const agentRef = { name: 'of-replays' };
  const spec = { agentRef, requestID: 'req_none' };
  /** An agent, and the spec for a request that it captured. */
  const captured = async (lab: Lab, intercept?: Intercept) => {
    const open = await applyAgent(lab, agentRef.name, intercept);
    const { public_url } = await open.agent.startTunnel({ name: 'web', proto: 'http', addr: '8080' });
    await visit(public_url);
    const client = new AgentClient({ ...systemRuntime, url: open.agent.url, userAgent: 'test' });
    const [request] = (await client.listRequests()).requests;
    await client.close();
    return { open, spec: { agentRef, requestID: request?.id } };
  };
  return {
    kind,
    drives: {
      new: ({ apply }) => apply(kind, spec),
      creating: async (lab) => {
        const { open, spec } = await captured(lab);
        return held(lab, open, calls('POST'), () => lab.apply(kind, spec));
      },
      ready: async (lab) => {
        const { spec } = await captured(lab);
        return lab.world.reason(await lab.apply(kind, spec), 'Available');
      },
      /** Through a tunnel that carries no requests. */
      rejected: async (lab) => {
        const { open, spec } = await captured(lab);
        await open.agent.startTunnel({ name: 'raw', proto: 'tcp', addr: '8080' });
        return lab.world.reason(await lab.apply(kind, { ...spec, tunnelName: 'raw' }), 'Rejected');
      },
      unauthorized: async (lab) => {
        const { spec } = await captured(lab, refusing(calls('POST')));
        return lab.world.reason(await lab.apply(kind, spec), 'Unauthorized');
      },
      unreachable: away(kind, spec),
      'dependency-not-ready': async ({ world, apply }) => world.reason(await apply(kind, spec), 'DependencyNotReady'),
      'external-not-found': async (lab) => {
        await applyAgent(lab, agentRef.name);
        return lab.world.reason(await lab.apply(kind, spec), 'ExternalNotFound');
      },
      'outcome-unknown': async ({ world, apply }) => {
        const annotations = { [annotation.replayIntent]: '2026-01-01T00:00:00Z nonce' };
        return world.reason(await apply(kind, spec, { annotations }), 'OutcomeUnknown');
      },
      paused: async ({ world, apply }) => world.reason(await apply(kind, spec, paused), 'Paused'),
      ...neverOfAgents,
      ...never('its spec cannot be changed', 'updating'),
      ...never('it has no finalizer', 'deleting', 'deleting-stalled'),
      ...never('what was sent cannot be looked up', 'looking-up', 'ambiguous-create'),
      ...never('it runs once, whatever else does', 'conflict', 'drift'),
    },
  };
}

/** The kinds that work with local agents. */
export const agentKinds: readonly KindStates[] = [agent(), agentTunnel(), requestReplay()];

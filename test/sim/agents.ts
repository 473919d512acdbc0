import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createApp } from '../../src/agent/api/app.ts';
import { apiRoutes } from '../../src/agent/api/routes.ts';
import type { AgentStatus } from '../../src/agent/api/status.ts';
import { type WireCapture, type WireTunnel, wireCapture, wireTunnel } from '../../src/agent/api/wire.ts';
import { Captures } from '../../src/agent/captures/captures.ts';
import type { RawHeaders } from '../../src/agent/captures/message.ts';
import { Descriptors } from '../../src/agent/descriptors/descriptors.ts';
import { Replays } from '../../src/agent/replay.ts';
import { usualTimeouts } from '../../src/agent/timeouts.ts';
import { readDefinition } from '../../src/agent/tunnels/definition.ts';
import { Tunnels } from '../../src/agent/tunnels/tunnels.ts';
import { dated, type Listener } from '../../src/common/dated.ts';
import { silentLog } from '../../src/common/log.ts';
import type { ServerRuntime } from '../../src/common/runtime.ts';
import { captureOf, SimTunnels } from './agent-tunnels.ts';
import { lazily } from './core/lazy.ts';

export interface SimAgentSpec {
  /** `http://host[:port]`, as operators address it. */
  readonly origin: string;
  /** As agent.yml and POST /api/tunnels define them: these run from each start. */
  readonly tunnels?: readonly object[];
}

export interface SimAgentsOptions {
  /** All ids and times come from it. */
  readonly runtime: Pick<ServerRuntime, 'clock' | 'monotonic' | 'random'>;
  readonly agents: readonly SimAgentSpec[];
}

/** A call that may have changed something: POST and DELETE. */
export interface AgentCall {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly body: unknown;
  readonly status: number;
}

/** A request that once came through an http tunnel; the tunnel need not run any more. */
export interface PlantedRequest {
  /** Its key: its name, or the id of an unnamed one. */
  readonly tunnel: string;
  /** Default GET. */
  readonly method?: string;
  /** Default `/`. */
  readonly target?: string;
  /** Names and values in turn. */
  readonly headers?: RawHeaders;
  readonly body?: string;
}

/** A local agent without a socket. */
export interface SimAgent {
  readonly origin: string;
  /** Of the Local Agent API; takes requests that name the host of the origin. */
  readonly listener: Listener;
  /** Those that run, in the order of their start. */
  tunnels(): readonly WireTunnel[];
  /** Captured requests, newest first. */
  captures(): readonly WireCapture[];
  /** Answers the id. */
  plant(request: PlantedRequest): string;
  /** As a process that ended and was started again: only the tunnels of its configuration run, nothing is captured. */
  restart(): Promise<void>;
  /** In the order of their answers. Survives a restart. */
  readonly journal: readonly AgentCall[];
}

export interface SimAgents {
  /** @throws Error when there is none at that origin. */
  at(origin: string): SimAgent;
  readonly all: readonly SimAgent[];
  close(): Promise<void>;
}

/** Local agents in memory. Each runs the API of the real one, over tunnels that open at once and carry nothing. */
export async function createSimAgents({ runtime, agents }: SimAgentsOptions): Promise<SimAgents> {
  const made = new Map<string, Awaited<ReturnType<typeof createSimAgent>>>();
  for (const spec of agents) made.set(new URL(spec.origin).origin, await createSimAgent(spec, runtime));
  return {
    all: [...made.values()].map(({ agent }) => agent),
    at: (origin) => {
      const found = made.get(origin);
      if (found === undefined) throw new Error(`there is no agent at ${origin}`);
      return found.agent;
    },
    close: async () => {
      await Promise.all([...made.values()].map(({ app }) => app.close()));
    },
  };
}

async function createSimAgent(
  { origin, tunnels: configured = [] }: SimAgentSpec,
  runtime: SimAgentsOptions['runtime'],
) {
  const { clock, monotonic, random } = runtime;
  const ticks = () => monotonic.now();
  const captures = new Captures({ budget: 0, now: () => clock.now(), ticks, random });
  const { open } = new SimTunnels({ captures, ticks, random });
  const tunnels = new Tunnels({ open, random, log: silentLog });
  const descriptors = new Descriptors({ limit: undefined, ticks, log: silentLog });
  const routes = apiRoutes({ tunnels, captures, replays: new Replays(captures, tunnels), status: async () => status });
  const journal: AgentCall[] = [];
  const app = lazily(async () => {
    const allowHosts = [new URL(origin).hostname];
    const made = createApp({ routes, allowHosts, descriptors, timeouts: usualTimeouts.api, log: silentLog });
    keepJournal(made, (call) => journal.push({ at: clock.now(), ...call }));
    await made.ready();
    return { listener: dated(clock, made.routing), close: () => made.close() };
  });
  const start = async () => {
    for (const definition of configured) await tunnels.start(readDefinition(definition));
  };
  await start();
  const agent: SimAgent = {
    origin,
    listener: app.listener,
    tunnels: () => tunnels.list().map(wireTunnel),
    captures: () => captures.list().map(wireCapture),
    plant: (request) => plant(captures, tunnels, request),
    restart: async () => {
      tunnels.stopAll();
      captures.clear();
      await start();
    },
    journal,
  };
  return { agent, app };
}

const status: AgentStatus = {
  status: 'online',
  agent_version: '1.2.3',
  session: { legs: [{ region: 'us', latency: '1.000ms' }] },
  uri: '/api/status',
};

function plant(captures: Captures, tunnels: Tunnels, request: PlantedRequest): string {
  const { tunnel: key, method = 'GET', target = '/', headers = ['Host', 'web.localhost'], body = '' } = request;
  const name = tunnels.get(key)?.definition.name ?? key;
  const head = { method, target, httpVersion: '1.1', rawHeaders: headers };
  const exchange = { remoteAddr: '127.0.0.1', request: head, body: Buffer.from(body) };
  const capture = captureOf(captures, { key, name }, exchange);
  if (capture === undefined) throw new Error('the request is too large to be captured');
  return capture.id;
}

function keepJournal(app: FastifyInstance, add: (call: Omit<AgentCall, 'at'>) => void): void {
  app.addHook('onSend', async (request: FastifyRequest, reply) => {
    const { method, url: path, body } = request;
    if (method === 'POST' || method === 'DELETE') add({ method, path, body, status: reply.statusCode });
  });
}

import { oneAddress } from '../common/http-server/one-address.ts';
import { cannotListen, listeningAt } from '../common/listen.ts';
import { type Log, silentLog } from '../common/log.ts';
import { UsageError } from '../common/usage.ts';
import { createApp } from './api/app.ts';
import { apiRoutes } from './api/routes.ts';
import { agentStatus } from './api/status.ts';
import { Captures } from './captures/captures.ts';
import type { AgentConfig } from './config.ts';
import { Descriptors } from './descriptors/descriptors.ts';
import type { Random } from './ids.ts';
import { addInspector } from './inspector/inspector.ts';
import { readPage } from './inspector/page.ts';
import { type CloudTarget, type RunningLeases, startLeases } from './leases/start-leases.ts';
import { History } from './metrics/history.ts';
import type { Ticks } from './metrics/rate.ts';
import { Replays } from './replay.ts';
import { type AgentTimeouts, usualTimeouts } from './timeouts.ts';
import type { Definition } from './tunnels/definition.ts';
import { Edge } from './tunnels/edge.ts';
import { edgeTunnels } from './tunnels/edge-tunnels.ts';
import type { Tunnel } from './tunnels/tunnel.ts';
import { Tunnels } from './tunnels/tunnels.ts';

/** What messages call a setting that was not given in agent.yml; default its field there. */
export type SettingNames = Readonly<Partial<Record<'web_addr' | 'edge_addr', string>>>;

export interface AgentOptions {
  /** Reported as `agent_version`. */
  readonly version: string;
  /** Where endpoints are registered; without it, nowhere. */
  readonly cloud?: CloudTarget | undefined;
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
  /** For durations and rates; default `performance.now`. */
  readonly ticks?: Ticks;
  readonly random?: Random;
  /** Files that the process may have open, which bounds its connections; default without limit. */
  readonly openFiles?: number | undefined;
  readonly timeouts?: AgentTimeouts;
  readonly names?: SettingNames;
  readonly log?: Log;
}

/** A running agent. */
export interface Agent {
  /** Of the Local Agent API and the inspector page, without a trailing slash. */
  readonly url: string;
  /** The port that http tunnels share, without a trailing slash. */
  readonly edgeURL: string;
  /** One more tunnel. @throws AgentProblem when it cannot be had. */
  startTunnel(definition: Definition): Promise<Tunnel>;
  /** Stops all tunnels and cuts open connections, once the http answers under way have ended or had so many milliseconds. */
  close(patienceMs?: number): Promise<void>;
}

/**
 * Starts the agent: its edge, its API, then the tunnels of the configuration.
 *
 * @throws UsageError naming the address or tunnel that cannot be had; nothing is left running then.
 */
export async function startAgent(config: AgentConfig, options: AgentOptions): Promise<Agent> {
  const { now = Date.now, ticks = () => performance.now(), random = Math.random, log = silentLog } = options;
  const captures = new Captures({ budget: config.inspect_db_size, now, ticks, random });
  const descriptors = new Descriptors({ limit: options.openFiles, ticks, log });
  const { timeouts = usualTimeouts } = options;
  const edge = new Edge(descriptors, timeouts.tunnels);
  const history = new History(ticks);
  const open = edgeTunnels({
    edge,
    captures,
    history,
    ticks,
    random,
    descriptors,
    quietMs: timeouts.tunnels.quietMs,
    log,
  });
  const tunnels = new Tunnels({ open, random, log });
  const replays = new Replays(captures, tunnels);
  const { version, cloud, names = {} } = options;
  const { region } = config;
  let leases: RunningLeases | undefined;
  const status = () => agentStatus({ version, region, edge: edge.address, ticks, cloud: leases?.status() });
  const routes = apiRoutes({ tunnels, captures, replays, status });
  const app = createApp({ routes, allowHosts: config.web_allow_hosts, descriptors, timeouts: timeouts.api, log });
  addInspector(app, { captures, replays, history, page: await readPage() });
  const close = async (patienceMs = 0) => {
    for (const { key, definition } of tunnels.list()) if (definition.proto !== 'http') tunnels.stop(key);
    await Promise.all([patienceMs > 0 && edge.drain(patienceMs), app.close(), leases?.close()]);
    tunnels.stopAll();
    await edge.close();
  };
  try {
    await named(names.edge_addr ?? 'edge_addr', edge.listen(config.edge_addr));
    const listening = oneAddress(config.web_addr)
      .then((address) => app.listen(address))
      .then(() => `http://${listeningAt(app.server, config.web_addr).local}`)
      .catch((cause) => Promise.reject(cannotListen(config.web_addr, cause)));
    const url = await named(names.web_addr ?? 'web_addr', listening);
    // Behind the addresses, as the log tells of each; before a request comes, as nothing here waits for anything outside.
    for (const definition of config.tunnels) await named(`tunnels.${definition.name}`, tunnels.start(definition));
    if (cloud !== undefined) leases = startLeases({ cloud, tunnels, region, version, ticks, random, log });
    return { url, edgeURL: edge.url, startTunnel: (definition) => tunnels.start(definition), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Says which setting it was that failed. */
function named<T>(setting: string, starting: Promise<T>): Promise<T> {
  return starting.catch((cause: Error) => {
    throw new UsageError(`${setting}: ${cause.message}`, { cause });
  });
}

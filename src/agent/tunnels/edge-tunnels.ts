import type { Log } from '../../common/log.ts';
import type { Captures } from '../captures/captures.ts';
import type { Descriptors } from '../descriptors/descriptors.ts';
import type { Random } from '../ids.ts';
import type { History } from '../metrics/history.ts';
import type { Ticks } from '../metrics/rate.ts';
import { AgentProblem } from '../problem.ts';
import type { HttpDefinition, PassedThroughDefinition } from './definition.ts';
import type { Edge } from './edge.ts';
import { HttpTunnel } from './http-tunnel.ts';
import { labelOf } from './label.ts';
import { PassedThroughTunnel } from './passed-through-tunnel.ts';
import type { OpenTunnel, TunnelOpener } from './tunnel.ts';
import { parseUpstream, type Upstream } from './upstream.ts';

export interface EdgeTunnelsParts {
  readonly edge: Edge;
  readonly captures: Captures;
  readonly history: History;
  readonly ticks: Ticks;
  readonly random: Random;
  readonly descriptors: Descriptors;
  /** How long a connection may carry nothing either way. */
  readonly quietMs: number;
  readonly log: Log;
}

/** Tunnels that carry traffic: http by the shared port of the edge, the others by a port of their own. */
export function edgeTunnels(parts: EdgeTunnelsParts): TunnelOpener {
  return async (key, definition) =>
    definition.proto === 'http' ? openHttp(parts, key, definition) : openPort(parts, key, definition);
}

function openHttp(
  { edge, captures, history, ticks, random, descriptors, quietMs }: EdgeTunnelsParts,
  key: string,
  definition: HttpDefinition,
): OpenTunnel {
  const label = labelOf(definition, (wanted) => edge.has(wanted), random);
  const publicURL = edge.publicURL(label);
  const upstream = upstreamOf(definition.addr, 'http');
  const carried = { captures, history, ticks, descriptors, quietMs };
  const tunnel = new HttpTunnel({ key, definition, upstream, publicURL, ...carried });
  edge.add(label, tunnel);
  const stop = () => {
    tunnel.close();
    edge.remove(label);
  };
  return { tunnel, stop };
}

async function openPort(
  { edge, ticks, descriptors, quietMs, log }: EdgeTunnelsParts,
  key: string,
  definition: PassedThroughDefinition,
): Promise<OpenTunnel> {
  const upstream = upstreamOf(definition.addr, 'tcp');
  const tunnel = new PassedThroughTunnel({
    key,
    definition,
    upstream,
    host: edge.address.host,
    ticks,
    descriptors,
    quietMs,
    log,
  });
  await tunnel.listen().catch((cause: Error) => {
    throw new AgentProblem('tunnelFailed', cause.message, { cause });
  });
  return { tunnel, stop: () => tunnel.close() };
}

function upstreamOf(addr: string, proto: 'http' | 'tcp'): Upstream {
  const upstream = parseUpstream(addr, proto);
  if (upstream === undefined) throw new AgentProblem('definitionInvalid', 'invalid field "addr"');
  return upstream;
}

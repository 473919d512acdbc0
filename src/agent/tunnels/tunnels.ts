import type { Log } from '../../common/log.ts';
import type { Captures } from '../captures/captures.ts';
import { newId, type Random, randomLabel } from '../ids.ts';
import type { History } from '../metrics/history.ts';
import type { Ticks } from '../metrics/rate.ts';
import { AgentProblem } from '../problem.ts';
import type { Definition, HttpDefinition, PassedThroughDefinition } from './definition.ts';
import type { Edge } from './edge.ts';
import { HttpTunnel } from './http-tunnel.ts';
import { PassedThroughTunnel } from './passed-through-tunnel.ts';
import { parseUpstream, type Upstream } from './upstream.ts';

export type Tunnel = HttpTunnel | PassedThroughTunnel;

export interface TunnelsParts {
  readonly edge: Edge;
  readonly captures: Captures;
  readonly history: History;
  readonly ticks: Ticks;
  readonly random: Random;
  readonly log: Log;
}

interface Running {
  readonly tunnel: Tunnel;
  stop(): void;
}

/** The running tunnels by key: their name, or an id where they have none. */
export class Tunnels {
  readonly #parts: TunnelsParts;
  readonly #running = new Map<string, Running>();
  readonly #starting = new Set<string>();
  readonly #listeners = new Set<() => void>();

  constructor(parts: TunnelsParts) {
    this.#parts = parts;
  }

  /** In the order of their start. */
  list(): readonly Tunnel[] {
    return [...this.#running.values()].map(({ tunnel }) => tunnel);
  }

  get(key: string): Tunnel | undefined {
    return this.#running.get(key)?.tunnel;
  }

  /** @throws AgentProblem when the name or host is taken, or the port cannot be had. */
  async start(definition: Definition): Promise<Tunnel> {
    const key = definition.name || newId(this.#parts.random, 'tn');
    if (this.#running.has(key) || this.#starting.has(key)) {
      throw new AgentProblem('nameTaken', `a tunnel named "${key}" is running already`);
    }
    this.#starting.add(key);
    try {
      const running = await this.#open(key, definition);
      this.#running.set(key, running);
      const { proto, publicURL } = { proto: definition.proto, publicURL: running.tunnel.publicURL };
      this.#parts.log.info('tunnel started', { tunnel: key, proto, addr: definition.addr, url: publicURL });
      this.#tell();
      return running.tunnel;
    } finally {
      this.#starting.delete(key);
    }
  }

  /** False when there is none of that key. */
  stop(key: string): boolean {
    const running = this.#running.get(key);
    if (running === undefined) return false;
    this.#running.delete(key);
    running.stop();
    this.#parts.log.info('tunnel stopped', { tunnel: key });
    this.#tell();
    return true;
  }

  stopAll(): void {
    for (const key of [...this.#running.keys()]) this.stop(key);
  }

  /** Called whenever a tunnel has started or stopped. */
  subscribe(listener: () => void): void {
    this.#listeners.add(listener);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  async #open(key: string, definition: Definition): Promise<Running> {
    return definition.proto === 'http' ? this.#openHttp(key, definition) : this.#openPort(key, definition);
  }

  #openHttp(key: string, definition: HttpDefinition): Running {
    const { edge, captures, history, ticks } = this.#parts;
    const label = this.#label(definition);
    const publicURL = edge.publicURL(label);
    const upstream = upstreamOf(definition.addr, 'http');
    const tunnel = new HttpTunnel({ key, definition, upstream, publicURL, captures, history, ticks });
    edge.add(label, tunnel);
    const stop = () => {
      edge.remove(label);
      tunnel.close();
    };
    return { tunnel, stop };
  }

  async #openPort(key: string, definition: PassedThroughDefinition): Promise<Running> {
    const { edge, ticks, log } = this.#parts;
    const upstream = upstreamOf(definition.addr, 'tcp');
    const tunnel = new PassedThroughTunnel({ key, definition, upstream, host: edge.address.host, ticks, log });
    await tunnel.listen().catch((cause: Error) => {
      throw new AgentProblem('tunnelFailed', cause.message, { cause });
    });
    return { tunnel, stop: () => tunnel.close() };
  }

  #label({ name, subdomain }: HttpDefinition): string {
    const { edge, random } = this.#parts;
    if (subdomain !== undefined) {
      if (edge.has(subdomain)) throw new AgentProblem('nameTaken', `subdomain "${subdomain}" is in use`);
      return subdomain;
    }
    const wanted = name.toLowerCase();
    return isLabel(wanted) && !edge.has(wanted) ? wanted : randomLabel(random);
  }
}

const isLabel = (text: string): boolean => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text);

function upstreamOf(addr: string, proto: 'http' | 'tcp'): Upstream {
  const upstream = parseUpstream(addr, proto);
  if (upstream === undefined) throw new AgentProblem('definitionInvalid', 'invalid field "addr"');
  return upstream;
}

import type { Log } from '../../common/log.ts';
import { newId, type Random } from '../ids.ts';
import { AgentProblem } from '../problem.ts';
import type { Definition } from './definition.ts';
import type { OpenTunnel, Tunnel, TunnelOpener } from './tunnel.ts';

export interface TunnelsParts {
  readonly open: TunnelOpener;
  readonly random: Random;
  readonly log: Log;
}

/** The running tunnels by key: their name, or an id where they have none. */
export class Tunnels {
  readonly #parts: TunnelsParts;
  readonly #running = new Map<string, OpenTunnel>();
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
      const running = await this.#parts.open(key, definition);
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
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import { type GateProxy, startGateProxy } from '../support/gate-proxy.ts';
import { LocalAgent } from '../support/local-agent.ts';
import { claimPorts } from '../support/ports.ts';
import type { Random } from './random.ts';
import type { Subject } from './subjects.ts';

/** An agent that ends and begins again, behind a connection that breaks. */
export class ChaoticAgent {
  readonly #agent: LocalAgent;
  readonly #proxy: GateProxy;
  readonly #release: () => Promise<void>;

  private constructor(agent: LocalAgent, proxy: GateProxy, release: () => Promise<void>) {
    this.#agent = agent;
    this.#proxy = proxy;
    this.#release = release;
  }

  static async start(): Promise<ChaoticAgent> {
    const { ports, release } = await claimPorts(1);
    const agent = new LocalAgent(ports[0] ?? 0);
    await agent.start();
    return new ChaoticAgent(agent, await startGateProxy(agent.url), release);
  }

  /** Where the operator finds it. */
  get url(): string {
    return this.#proxy.url;
  }

  async run(random: Random, until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      await sleep(random.between(200, 4_000), undefined, { signal: until }).catch(() => {});
      const kind = random.next();
      if (kind < 0.3) this.#proxy.cut();
      // Done, and nobody is told.
      else if (kind < 0.7)
        void this.#proxy.hold('after', ({ method }) => method !== 'GET').then(() => this.#proxy.cut());
      else await this.#restart(random);
    }
  }

  /** The tunnels, as a kind of resource. */
  readonly subject: Subject = {
    kind: 'AgentTunnel',
    spec: (name, random) => ({
      agentRef: { name: 'edge' },
      tunnelName: random.pick([name, `${name}-2`]),
      proto: random.pick(['http', 'tcp']),
      addr: random.pick(['localhost:1001', 'localhost:1002']),
    }),
    disturb: async ({ spec }) => this.#agent.stopTunnel(String(spec.tunnelName)),
    wrongs: async (objects) => {
      const running = new Map((await this.#agent.tunnels()).map((tunnel) => [tunnel.name, tunnel]));
      const wrong = objects.flatMap((object) => {
        const name = String(object.spec.tunnelName);
        const found = running.get(name);
        running.delete(name);
        const shown = found && { proto: found.proto, addr: found.config.addr, url: found.public_url };
        return isAsAsked(object, shown)
          ? []
          : [`tunnel ${name} is ${JSON.stringify(shown)}, not ${JSON.stringify(object)}`];
      });
      return [...wrong, ...[...running.keys()].map((name) => `nobody's tunnel ${name}`)];
    },
  };

  async stop(): Promise<void> {
    await this.#proxy.close();
    await this.#agent.stop();
    await this.#release();
  }

  /** All that ran in it is gone. */
  async #restart(random: Random): Promise<void> {
    await this.#agent.stop();
    await sleep(random.between(0, 3_000));
    await this.#agent.start();
  }
}

function isAsAsked(
  { spec, status }: ManagedObject,
  shown: { readonly proto: string; readonly addr: unknown; readonly url: string } | undefined,
): boolean {
  const addr = String(shown?.addr).replace(/^http:\/\//, '');
  return shown?.proto === spec.proto && addr === spec.addr && shown?.url === status?.publicURL;
}

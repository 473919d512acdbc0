import type { Flight } from '../../core/network.ts';
import { type Fields, fieldsOf, parsed, textOf } from './json.ts';
import { agentAt, type TunnelID } from './tunnels-asked.ts';
import { installationOf } from './who.ts';
import { perWorld, type Witness } from './witness.ts';

/** A POST or DELETE of a tunnel that an agent carried out, whether or not the answer arrived. */
export interface TunnelCall {
  readonly flight: Flight;
  readonly at: number;
  readonly sentAt: number;
  readonly process: string;
  /** Undefined: a person. */
  readonly installation: string | undefined;
  readonly tunnel: TunnelID;
}

export interface TunnelStart extends TunnelCall {
  /** As it was sent. */
  readonly definition: Fields;
}

export interface TunnelStop extends TunnelCall {
  /** Of what was there to be stopped when it was sent; undefined where nobody had asked for that. */
  readonly start: TunnelStart | undefined;
}

/** A tunnel that runs, as its agent shows it. */
export interface RunningTunnel {
  readonly tunnel: TunnelID;
  readonly proto: string;
  readonly config: Fields;
}

/** What was started and stopped in the local agents. */
export class AgentModel {
  /** Told of every tunnel that somebody stopped, once all that happened at its moment is known. */
  readonly stops = new Set<(stop: TunnelStop) => void>();
  readonly #world: Witness;
  /** By tunnel, those that were stopped too; an agent that starts anew tells nobody. */
  readonly #starts = new Map<string, TunnelStart[]>();
  readonly #answered = new WeakSet<Flight>();

  constructor(world: Witness) {
    this.#world = world;
    world.network.observers.add((flight) => this.#see(flight));
    world.network.arrivals.add((flight) => this.#answered.add(flight));
  }

  get running(): readonly RunningTunnel[] {
    return this.#world.agents.all.flatMap(({ origin, tunnels }) =>
      tunnels().map(({ name, proto, config }) => ({
        ...{ tunnel: { agent: agentAt(origin), name }, proto },
        config: fieldsOf(config),
      })),
    );
  }

  /** Oldest first. */
  startsOf(tunnel: TunnelID): readonly TunnelStart[] {
    return this.#starts.get(keyOf(tunnel)) ?? [];
  }

  /** The one by which it runs, or ran last. */
  lastStartOf(tunnel: TunnelID): TunnelStart | undefined {
    return this.startsOf(tunnel).at(-1);
  }

  /** Whoever sent it knows what became of it. */
  wasAnswered({ flight }: TunnelCall): boolean {
    return this.#answered.has(flight);
  }

  #see(flight: Flight): void {
    const { method, path, to, answer, from } = flight;
    const [, ofPath] = /^\/api\/tunnels(?:\/([^/?]+))?$/.exec(path) ?? ['', null];
    if (ofPath === null || (answer?.status ?? 500) >= 300) return;
    const definition = fieldsOf(parsed(flight.body));
    const name = ofPath === undefined ? textOf(definition.name) : decodeURIComponent(ofPath);
    if (name === undefined) return;
    const tunnel = { agent: agentAt(to.origin), name };
    const { sentAt, arrivedAt: at = sentAt } = flight;
    const call = { flight, at, sentAt, process: from.name, installation: installationOf(from.name), tunnel };
    if (method === 'POST') this.#starts.set(keyOf(tunnel), [...this.startsOf(tunnel), { ...call, definition }]);
    const start = this.startsOf(tunnel).findLast((each) => each.sentAt <= sentAt);
    if (method === 'DELETE') this.#tell({ ...call, start });
  }

  /** Who wrote to Kubernetes at this moment is known after it. */
  #tell(stop: TunnelStop): void {
    this.#world.scheduler.after(0, () => {
      for (const listen of this.stops) listen(stop);
    });
  }
}

export const agentModelOf = perWorld((world) => new AgentModel(world));

const keyOf = ({ agent, name }: TunnelID): string => `${agent} ${name}`;

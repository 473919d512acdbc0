import { join } from 'node:path';
import { createCloudApi } from '../../../src/reference/cloud-api/core.ts';
import type { Seed } from '../../../src/reference/cloud-api/seed/schema.ts';
import { createKubeApi, type KubeApiCore } from '../../../src/reference/kube-api/core.ts';
import type { Change } from '../../../src/reference/kube-api/store/history.ts';
import { loadCrds } from '../../../src/reference/kube-api/types/load-crds.ts';
import { createSimAgents, type SimAgents } from '../agents.ts';
import { Installation } from './installation.ts';
import { lazily, type Served } from './lazy.ts';
import { type Flight, Network, type Service } from './network.ts';
import { SimProcess } from './process.ts';
import { Chance } from './random.ts';
import { Scheduler } from './scheduler.ts';
import { type Answer, askWhole } from './server.ts';
import { apiKeysOf, type Story } from './story.ts';
import { agentNames, originOf, seedOfWorld } from './surroundings.ts';
import { Trace, type TraceOptions } from './trace.ts';

const crds = loadCrds(join(import.meta.dirname, '../../../crds'));

/** One line of a log of the operator. */
export interface LogLine {
  readonly at: number;
  readonly process: string;
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A process of an installation, as it was started. */
export interface Beginning {
  readonly at: number;
  readonly installation: string;
  readonly process: string;
  /** As flags of `run`, by their field. */
  readonly settings: Readonly<Record<string, string>>;
  readonly apiKey: string | undefined;
  /** It had begun before: only its key is another. */
  readonly rotated?: boolean;
}

/** A process of an installation that ended by itself, or as it was told to. */
export interface Ending {
  readonly at: number;
  readonly process: string;
  /** It had been told to stop. */
  readonly asked: boolean;
  /** What it ended with, if it did not just end. */
  readonly error?: unknown;
}

export interface WorldOptions extends TraceOptions {
  readonly story: Story;
  /** What the clouds have besides; default nothing. */
  readonly seeds?: readonly Seed[];
}

/** Everything there is: time, Kubernetes, the cloud, and the operators between them. */
export class World {
  readonly story: Story;
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  readonly trace: Trace;
  readonly network: Network;
  readonly installations: ReadonlyMap<string, Installation>;
  readonly kube: KubeApiCore;
  /** By the name of their service. */
  readonly clouds: ReadonlyMap<string, Served>;
  /** Local agents, of the names in {@link agentNames}. */
  readonly agents: SimAgents;
  readonly services: ReadonlyMap<string, Service>;
  readonly #servers: ReadonlyMap<string, SimProcess>;
  readonly logs: LogLine[] = [];
  readonly beginnings: Beginning[] = [];
  readonly endings: Ending[] = [];

  /** A world in which nothing runs yet. */
  static async create({ story, seeds = [], ...trace }: WorldOptions): Promise<World> {
    const chance = new Chance('world', story.seed);
    const scheduler = new Scheduler();
    const servers = new Map<string, SimProcess>();
    const server = (name: string) => {
      const process = new SimProcess(name, scheduler, chance.of(name));
      servers.set(name, process);
      return process;
    };
    const { rateLimit = 120 } = story.cloud ?? {};
    const apiKeys = apiKeysOf(story.cloud);
    const cloud = (name: string) => {
      const runtime = server(name);
      return lazily(() => createCloudApi({ apiKeys, rateLimit, seeds: [seedOfWorld, ...seeds], runtime }));
    };
    const clouds = new Map(['cloud', 'other-cloud'].map((name) => [name, cloud(name)]));
    const kube = createKubeApi({ crds, runtime: server('kube') });
    const agents = await createSimAgents({
      runtime: server('agents'),
      agents: agentNames.map((name) => ({ origin: originOf(name) })),
    });
    return new World(story, { chance, scheduler, servers, clouds, kube, agents, trace });
  }

  private constructor(
    story: Story,
    parts: {
      readonly chance: Chance;
      readonly scheduler: Scheduler;
      readonly servers: ReadonlyMap<string, SimProcess>;
      readonly clouds: ReadonlyMap<string, Served>;
      readonly kube: KubeApiCore;
      readonly agents: SimAgents;
      readonly trace: TraceOptions;
    },
  ) {
    const { chance, scheduler, servers, clouds, kube, agents } = parts;
    this.story = story;
    this.chance = chance;
    this.scheduler = scheduler;
    this.#servers = servers;
    this.clouds = clouds;
    this.kube = kube;
    this.agents = agents;
    this.trace = new Trace(() => scheduler.now, parts.trace);
    this.network = new Network({ scheduler, trace: this.trace, chance: chance.of('latency') });
    const services: Service[] = [
      { name: 'kube', origin: kubeOrigin, listener: kube.listener, latency: [0.2, 2] },
      ...[...clouds].map(([name, { listener }]) => ({
        name,
        origin: `http://${name}.sim`,
        listener,
        latency: [5, 40] as const,
      })),
      ...agentNames.map((name) => ({
        name,
        origin: originOf(name),
        listener: agents.at(originOf(name)).listener,
        latency: [1, 5] as const,
      })),
    ];
    this.services = new Map(services.map((service) => [service.name, service]));
    for (const service of services) this.network.add(service);
    this.installations = new Map(story.installations.map((spec) => [spec.name, new Installation(spec, this)]));
    this.network.onCrash = (process) => {
      for (const installation of this.installations.values()) installation.crashed(process);
    };
  }

  /** Told of every write to Kubernetes from now on; returns the function that ends it. */
  onChange(listener: (change: Change) => void): () => void {
    return this.kube.store.subscribe(listener);
  }

  /** The clock of a service goes wrong by so much more; returns the function that puts it right again. */
  skew(service: string, ms: number): () => void {
    const server = this.#servers.get(service);
    if (server === undefined) throw new Error(`there is no service ${service}`);
    server.skewMs += ms;
    return () => {
      server.skewMs -= ms;
    };
  }

  /** Asks Kubernetes as a person with all rights, at once, past the network. */
  async kubernetes(method: string, path: string, body?: object, contentType = 'application/json'): Promise<Answer> {
    const headers = {
      authorization: `Bearer ${this.kube.token}`,
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': contentType }),
    };
    const text = body === undefined ? undefined : JSON.stringify(body);
    const answer = await this.scheduler.during(() =>
      askWhole(this.kube.listener, 'kube.sim', { method, path, headers, body: text }),
    );
    if (method !== 'GET') this.trace.add('person', `kube ${method} ${path} ${text ?? ''} ${answer.status}`);
    return answer;
  }

  /** Asks a cloud as a person, at once, past the network; observers of the network see it. */
  async askCloud(name: string, request: { key: string; method: string; path: string; body?: object }): Promise<Answer> {
    const service = this.services.get(name);
    if (service === undefined) throw new Error(`there is no service ${name}`);
    const { key, method, path } = request;
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    const headers = {
      authorization: `Bearer ${key}`,
      'service-version': '2',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const now = this.scheduler.now;
    const flight: Flight = {
      ...{ id: 0, from: person(this.scheduler, this.chance), to: service, method, path, headers, body, isWatch: false },
      ...{ sentAt: now, arrivedAt: now },
    };
    const answer = await this.scheduler.during(() => askWhole(service.listener, 'cloud.sim', flight));
    flight.answer = answer;
    for (const observe of this.network.observers) observe(flight);
    this.trace.add('person', `${name} ${method} ${path} ${body ?? ''} ${answer.status} ${answer.body.slice(0, 200)}`);
    return answer;
  }

  /** Ends what holds memory; nothing may be asked of it afterwards. */
  async close(): Promise<void> {
    for (const installation of this.installations.values()) installation.end();
    this.kube.close();
    await Promise.all([...this.clouds.values(), this.agents].map((each) => each.close()));
  }
}

export const kubeOrigin = 'http://kube.sim';
/** An Agent reaches them as `http://NAME.sim:4040`, which every installation allows. */

function person(scheduler: Scheduler, chance: Chance): SimProcess {
  return new SimProcess('person', scheduler, chance.of('person'));
}

import type { ApiObject } from '../../../../src/reference/kube-api/object.ts';
import type { Change } from '../../../../src/reference/kube-api/store/history.ts';
import { StoredObject } from '../../../../src/reference/kube-api/store/stored-object.ts';
import type { Flight, Service } from '../../core/network.ts';
import { SimProcess } from '../../core/process.ts';
import { Chance } from '../../core/random.ts';
import type { Judge, Report } from '../../core/run.ts';
import { Scheduler } from '../../core/scheduler.ts';
import type { Answer } from '../../core/server.ts';
import { type Act, mainKey, type Story } from '../../core/story.ts';
import type { Beginning, Ending, LogLine } from '../../core/world.ts';
import type { Witness } from './witness.ts';

type Fields = Readonly<Record<string, unknown>>;

export const operator = 'op-0.0';

/** What is said of a resource; what is left out stays as it was. */
export interface Manifest {
  readonly namespace?: string;
  readonly spec?: Fields;
  readonly annotations?: Readonly<Record<string, string | null>>;
  readonly finalizers?: readonly string[];
  readonly deleting?: boolean;
  readonly status?: Fields;
  /** Default a person. */
  readonly by?: string;
}

export interface CloudCall {
  readonly method: string;
  readonly path: string;
  readonly body?: Fields;
  /** Default what the method answers when all is well. */
  readonly status?: number;
  readonly answer?: Fields;
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string;
  readonly service?: string;
  /** Default the operator. */
  readonly by?: string;
  readonly sentAt?: number;
  /** Default true. */
  readonly arrives?: boolean;
  /** The service never sees it: somebody in between answers. */
  readonly instead?: boolean;
}

/** As it is sent to an agent, and shown by it. */
export interface FakeTunnel {
  readonly name: string;
  readonly proto: string;
  readonly addr: string;
  readonly [option: string]: unknown;
}

class FakeAgent {
  readonly origin: string;
  readonly #tunnels = new Map<string, FakeTunnel>();

  constructor(origin: string) {
    this.origin = origin;
  }

  readonly tunnels = () =>
    [...this.#tunnels.values()].map(({ name, proto, ...config }) => ({
      name,
      proto,
      config: { inspect: true, ...config },
    }));

  start(tunnel: FakeTunnel): void {
    this.#tunnels.set(tunnel.name, tunnel);
  }

  stop(name: string): void {
    this.#tunnels.delete(name);
  }
}

/** A world that is nothing but what a test says happened in it. */
export class FakeWorld implements Witness {
  readonly story: Story;
  readonly scheduler = new Scheduler();
  readonly network = {
    observers: new Set<(flight: Flight) => void>(),
    sendings: new Set<(flight: Flight) => void>(),
    arrivals: new Set<(flight: Flight, answer: Answer) => void>(),
  };
  readonly agents = { all: ['agent-a', 'agent-b'].map((name) => new FakeAgent(`http://${name}.sim`)) };
  readonly logs: LogLine[] = [];
  readonly beginnings: Beginning[] = [];
  readonly endings: Ending[] = [];
  readonly said: string[] = [];
  readonly #listeners = new Map<(change: Change) => void, () => void>();
  readonly #objects = new Map<string, StoredObject>();
  readonly #processes = new Map<string, SimProcess>();
  /** Objects of the clouds by their path, as they were shown last. */
  readonly #things = new Map<string, Fields>();
  #revision = 1;
  #flights = 0;
  #ids = 0;

  constructor(story: Partial<Story> = {}) {
    const acts: readonly Act[] = [{ at: 0, do: 'start', installation: 'op' }];
    this.story = { seed: 1, installations: [{ name: 'op' }], ...story, acts: [...acts, ...(story.acts ?? [])] };
    for (const { name, apiKey, settings } of this.story.installations) {
      this.begin(`${name}-0.0`, { ...settings }, apiKey === undefined ? mainKey : (apiKey ?? undefined));
    }
  }

  readonly kube = {
    store: {
      subscribe: (listener: (change: Change) => void, end: () => void = () => {}) => {
        this.#listeners.set(listener, end);
        return () => this.#listeners.delete(listener);
      },
    },
    snapshot: () => ({ objects: [...this.#objects.values()].map((object) => ['', object] as const) }),
  };

  /** Brings an oracle; what it says is in `said`. */
  judge(oracle: (world: Witness, report: Report) => Judge): Judge {
    return oracle(this, (name, message) => {
      const line = `${name}: ${message}`;
      if (!this.said.includes(line)) this.said.push(line);
    });
  }

  begin(
    process: string,
    settings: Readonly<Record<string, string>> = {},
    apiKey: string | undefined = mainKey,
    rotated = false,
  ) {
    const installation = process.replace(/-\d+\.\d+$/, '');
    this.beginnings.push({
      ...{ at: this.scheduler.now, installation, process, apiKey, rotated },
      settings: { apiUrl: 'http://cloud.sim', mirrorInterval: '0', ...settings },
    });
  }

  async pass(ms: number): Promise<void> {
    await this.scheduler.run(this.scheduler.now + ms);
  }

  process(name: string): SimProcess {
    const known = this.#processes.get(name);
    if (known !== undefined) return known;
    const fresh = new SimProcess(name, this.scheduler, new Chance(name));
    this.#processes.set(name, fresh);
    return fresh;
  }

  /** Writes a resource of our API, or of another if `kind` is one, as a person or a process does. */
  async write(kind: string, name: string, manifest: Manifest = {}): Promise<void> {
    const { namespace = 'a', by } = manifest;
    const key = `${kind} ${namespace}/${name}`;
    const before = this.#objects.get(key);
    const object = merged(before?.object, { kind, name, namespace }, manifest, ++this.#revision);
    const stored = StoredObject.of(object);
    this.#objects.set(key, stored);
    this.#publish(before === undefined ? 'ADDED' : 'MODIFIED', stored, before);
    await this.#written(by, object);
  }

  async remove(kind: string, name: string, { namespace = 'a', by }: Pick<Manifest, 'namespace' | 'by'> = {}) {
    const key = `${kind} ${namespace}/${name}`;
    const before = this.#objects.get(key);
    if (before === undefined) throw new Error(`there is no ${key}`);
    this.#objects.delete(key);
    const metadata = { ...before.object.metadata, resourceVersion: String(++this.#revision) };
    const last = StoredObject.of({ ...before.object, metadata } as ApiObject);
    this.#publish('DELETED', last, before);
    await this.#written(by, last.object);
  }

  /** Everything as it is now. */
  backup(): ReadonlyMap<string, StoredObject> {
    return new Map(this.#objects);
  }

  async restore(backup: ReadonlyMap<string, StoredObject>): Promise<void> {
    for (const end of this.#listeners.values()) end();
    this.#objects.clear();
    for (const [key, object] of backup) this.#objects.set(key, object);
    await this.pass(0);
  }

  async data(
    kind: 'Secret' | 'ConfigMap',
    name: string,
    data: Readonly<Record<string, string>>,
    namespace = 'a',
    by?: string,
  ) {
    const encoded = Object.entries(data).map(([key, value]) => [
      key,
      kind === 'Secret' ? Buffer.from(value).toString('base64') : value,
    ]);
    const metadata = {
      name,
      namespace,
      uid: `${kind}-${namespace}-${name}`,
      resourceVersion: String(++this.#revision),
    };
    await this.#put({ apiVersion: 'v1', kind, metadata, data: Object.fromEntries(encoded) }, by);
  }

  async lease(holder: string, by: string, name = 'edge-operator'): Promise<void> {
    const metadata = { name, namespace: 'edge-operator', resourceVersion: String(++this.#revision) };
    const spec = { holderIdentity: holder, leaseDurationSeconds: 15, renewTime: `write ${this.#revision}` };
    const object = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
    await this.#put(object, by, `/apis/coordination.k8s.io/v1/namespaces/edge-operator/leases/${name}`);
  }

  /** A call to a cloud, answered at once. */
  async call(call: CloudCall): Promise<Flight> {
    const { method, path, body, by = operator, key = mainKey, service = 'cloud', arrives = true } = call;
    const flight = this.#flight(by, service, {
      ...{ method, path, headers: { authorization: `Bearer ${key}` } },
      ...{ body: body === undefined ? undefined : JSON.stringify(body), sentAt: call.sentAt },
    });
    const status = call.status ?? { POST: 201, DELETE: 204 }[method] ?? 200;
    const known = this.#things.get(path);
    const content = call.answer ?? (status < 300 ? { ...known, ...body } : {});
    if (call.method === 'PATCH') this.#things.set(path, content);
    const answer = { status, headers: { ...call.headers }, body: JSON.stringify(content ?? {}) };
    for (const tell of this.network.sendings) tell(flight);
    if (call.instead !== true) {
      flight.arrivedAt = this.scheduler.now;
      flight.answer = answer;
      for (const tell of this.network.observers) tell(flight);
    }
    if (arrives) for (const tell of this.network.arrivals) tell(flight, answer);
    await this.pass(0);
    return flight;
  }

  /** Makes an object of the cloud; its id. */
  async make(collection: 'reserved_addrs' | 'bot_users', body: Fields, call: Partial<CloudCall> = {}): Promise<string> {
    const id = `${collection === 'bot_users' ? 'bot' : 'ra'}_${String(++this.#ids).padStart(27, '0')}`;
    const shown = collection === 'bot_users' ? { active: true } : { region: 'us', endpoint_configuration: null };
    const service = call.service ?? 'cloud';
    const outputs = { id, uri: `http://${service}.sim/${collection}/${id}`, created_at: '2030-01-01T00:00:00Z' };
    const addr = collection === 'bot_users' ? {} : { addr: `${this.#ids}.tcp.us.localhost:10001` };
    const answer = { ...shown, ...body, ...outputs, ...addr };
    this.#things.set(`/${collection}/${id}`, answer);
    await this.call({ method: 'POST', path: `/${collection}`, body, answer, ...call });
    return id;
  }

  /** Starts a tunnel in an agent. */
  async startTunnel(agent: string, definition: FakeTunnel, call: Partial<CloudCall> = {}): Promise<void> {
    this.#agent(agent).start(definition);
    await this.call({ method: 'POST', path: '/api/tunnels', body: { ...definition }, service: agent, ...call });
  }

  async stopTunnel(agent: string, name: string, call: Partial<CloudCall> = {}): Promise<void> {
    this.#agent(agent).stop(name);
    await this.call({ method: 'DELETE', path: `/api/tunnels/${encodeURIComponent(name)}`, service: agent, ...call });
  }

  #agent(name: string): FakeAgent {
    const found = this.agents.all.find(({ origin }) => origin === `http://${name}.sim`);
    if (found === undefined) throw new Error(`there is no agent ${name}`);
    return found;
  }

  async #put(object: Fields & { readonly metadata: { name: string; namespace: string } }, by?: string, path?: string) {
    const key = `${String(object.kind)} ${object.metadata.namespace}/${object.metadata.name}`;
    const before = this.#objects.get(key);
    const stored = StoredObject.of(object as unknown as ApiObject);
    this.#objects.set(key, stored);
    this.#publish(before === undefined ? 'ADDED' : 'MODIFIED', stored, before);
    await this.#written(by, stored.object, path);
  }

  #publish(type: Change['type'], current: StoredObject, previous: StoredObject | undefined): void {
    const change = { revision: this.#revision, type, storage: current.object.kind, current, previous };
    for (const listener of this.#listeners.keys()) listener(change);
  }

  /** What a process wrote it was answered. */
  async #written(
    by: string | undefined,
    object: ApiObject,
    path = '/apis/edge-operator.dev/v1alpha1/x',
  ): Promise<void> {
    if (by !== undefined) {
      const flight = this.#flight(by, 'kube', { method: 'PATCH', path, headers: {}, body: JSON.stringify(object) });
      flight.arrivedAt = this.scheduler.now;
      flight.answer = { status: 200, headers: {}, body: JSON.stringify(object) };
      for (const tell of this.network.sendings) tell(flight);
      for (const tell of this.network.observers) tell(flight);
      for (const tell of this.network.arrivals) tell(flight, flight.answer);
    }
    await this.pass(0);
  }

  #flight(
    by: string,
    service: string,
    request: Pick<Flight, 'method' | 'path' | 'headers' | 'body'> & { readonly sentAt?: number | undefined },
  ): Flight {
    const to: Service = { name: service, origin: `http://${service}.sim`, listener: () => {}, latency: [0, 0] };
    const sentAt = request.sentAt ?? this.scheduler.now;
    return { ...request, id: ++this.#flights, from: this.process(by), to, isWatch: false, sentAt };
  }
}

function merged(
  before: ApiObject | undefined,
  { kind, name, namespace }: { readonly kind: string; readonly name: string; readonly namespace: string },
  { spec, annotations = {}, finalizers, deleting, status }: Manifest,
  revision: number,
): ApiObject {
  const old = before?.metadata;
  const changed = spec !== undefined && JSON.stringify(spec) !== JSON.stringify(before?.spec);
  const isEnding = deleting === true && old?.deletionTimestamp === undefined;
  const generation = Number(old?.generation ?? 0) + (changed || isEnding || before === undefined ? 1 : 0);
  const kept = Object.entries({ ...old?.annotations, ...annotations }).filter(([, value]) => value !== null);
  const ends = deleting ?? old?.deletionTimestamp !== undefined;
  return {
    apiVersion: 'edge-operator.dev/v1alpha1',
    kind,
    metadata: {
      ...{ name, namespace, generation, resourceVersion: String(revision) },
      uid: old?.uid ?? `${kind}-${namespace}-${name}-${revision}`,
      annotations: Object.fromEntries(kept),
      finalizers: finalizers ?? old?.finalizers ?? [],
      ...(ends ? { deletionTimestamp: '2030-01-01T00:00:00Z' } : {}),
    },
    spec: spec ?? before?.spec ?? {},
    status: status ?? before?.status ?? { observedGeneration: -1 },
  } as unknown as ApiObject;
}

/** The status of a resource that is as it should be. */
export function available(generation: number, fields: Fields = {}): Fields {
  return {
    observedGeneration: generation,
    ...fields,
    conditions: [condition('Ready', 'True', 'Available', generation)],
  };
}

/** The status of a resource that is not. */
export function unready(generation: number, reason: string, beside: 'Reconciling' | 'Stalled', fields: Fields = {}) {
  const conditions = [condition('Ready', 'False', reason, generation), condition(beside, 'True', reason, generation)];
  return { observedGeneration: generation, ...fields, conditions };
}

export function condition(type: string, status: string, reason: string, generation: number, message = 'so it is') {
  return { type, status, reason, message, observedGeneration: generation, lastTransitionTime: '2030-01-01T00:00:00Z' };
}

/** What an operator does that makes a bot user for a resource; its id. */
export async function madeBotUser(
  world: FakeWorld,
  name = 'bot',
  { namespace = 'a', spec = { name }, ...call }: Partial<CloudCall> & { namespace?: string; spec?: Fields } = {},
): Promise<string> {
  const by = call.by ?? operator;
  await world.write('BotUser', name, { namespace, spec, finalizers: ['edge-operator.dev/external-resource'] });
  const id = await world.make('bot_users', { name: spec.name, active: true }, call);
  await world.write('BotUser', name, {
    ...{ namespace, by },
    annotations: { 'edge-operator.dev/external-id': id, 'edge-operator.dev/created-id': id },
    status: available(1, {
      id,
      uri: `http://${call.service ?? 'cloud'}.sim/bot_users/${id}`,
      createdAt: '2030-01-01T00:00:00Z',
    }),
  });
  return id;
}

import { ApiError } from '../../../../common/http/errors.ts';
import type { TunnelDefinition } from '../../../agent-client/client.ts';
import type { Tunnel } from '../../../agent-client/schemas.ts';
import { contextOf } from '../../../reconcile/context.fixture.ts';
import { annotation } from '../../../reconcile/resource/annotations.ts';
import { Memory } from '../../../reconcile/resource/memory.ts';
import type { Condition, ManagedObject } from '../../../reconcile/resource/resource.ts';
import type { Annotations, ObjectWriter } from '../../../reconcile/resource/writer.ts';
import type { Recorder } from '../../../reconcile/status/events.ts';
import { DependencyError, type Report, reportFailure, UnrecordedError } from '../../../reconcile/status/outcome.ts';
import { OddTunnelError } from '../registry/agent-connection.ts';
import { type Agents, NotAdmittedError } from '../registry/agents.ts';
import { TunnelFlow } from './flow.ts';

export const createSettleMs = 60_000;
export const agentURL = 'http://agent';
const rates = { count: 0, rate1: 0, rate5: 0, rate15: 0, p50: 0, p90: 0, p95: 0, p99: 0 };
const ready: Condition = {
  type: 'Ready',
  status: 'True',
  observedGeneration: 1,
  reason: 'Available',
  message: '',
  lastTransitionTime: '',
};

/** One AgentTunnel, the agent that it is of, and an operator's process that looks after it. */
export class TunnelWorld {
  /** The resource as Kubernetes has it, and what runs in the agent. */
  object: ManagedObject = {
    apiVersion: 'edge-operator.dev/v1alpha1',
    kind: 'AgentTunnel',
    metadata: { name: 'web', namespace: 'ns', uid: 'u', generation: 1 },
    spec: { agentRef: { name: 'dev' }, proto: 'http', addr: '8080' },
  };
  running: Tunnel | undefined;
  /** Tunnels of others in the agent, and their resources. */
  others: readonly Tunnel[] = [];
  peers: readonly ManagedObject[] = [];
  /** Of the last start without an answer. */
  late: Tunnel | undefined;
  now = 0;
  /** Of which the cache knows nothing yet. */
  isGone = false;
  /** A person asks for something. */
  isRequested = true;
  /** The Agent that it names is. */
  isPaused = false;
  /** And has another address. */
  isElsewhere = false;
  /** No request may go to where it was. */
  isShutOut = false;
  /** Nothing listens there, and no Agent has the address. */
  isAway = false;
  /** What it lists cannot be read, and may be any. */
  isOdd = false;
  /** Kubernetes admits no record. */
  isDenied = false;
  /** Each as its reason and its note. */
  readonly events: string[] = [];
  /** What comes while the agent is looked at. */
  onLook = () => {};
  /** What the agent does with the next POST. */
  onStart: (asked: Tunnel) => Tunnel = (asked) => this.run(asked);
  readonly flow: TunnelFlow;
  #memory = new Memory();

  constructor() {
    const agent = {
      url: agentURL,
      find: async (name: string) => {
        if (this.isOdd) throw new OddTunnelError('a tunnel that has no name, and may be web: name: expected string');
        this.onLook();
        return this.running?.name === name ? this.running : undefined;
      },
      running: () => [...this.others, ...(this.running === undefined ? [] : [this.running])],
      start: async (definition: TunnelDefinition) => this.onStart(shown(definition)),
      stop: async () => {
        this.running = undefined;
      },
    };
    const checkPause = () => {
      if (this.isPaused) throw new DependencyError('the Agent is paused');
    };
    const agents = {
      of: () => {
        checkPause();
        return this.isElsewhere ? { ...agent, url: `${agentURL}2` } : agent;
      },
      checkPause,
      checkVisit: () => {},
      isInUse: () => !this.isAway,
      visit: async (_url: string, _namespace: string, use: (it: typeof agent) => Promise<unknown>) => {
        if (this.isShutOut) throw new NotAdmittedError('no request may go there');
        if (this.isAway) throw new Error('refused', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) });
        return use(agent);
      },
    };
    this.flow = new TunnelFlow(agents as unknown as Agents, createSettleMs);
  }

  run(tunnel: Tunnel): Tunnel {
    this.running = tunnel;
    return tunnel;
  }

  /** The next starts are answered. */
  starts(): void {
    this.onStart = (asked) => this.run(asked);
  }

  /** The next starts fail. */
  fails(reason: 'Unreachable' | 'Rejected', meanwhile = () => {}): void {
    this.onStart = (asked) => {
      meanwhile();
      if (reason === 'Unreachable') this.late = asked;
      throw new ApiError('said why', { operation: 'tunnels.start', reason, definite: reason === 'Rejected' });
    };
  }

  edit(spec: Partial<ManagedObject['spec']> = {}): void {
    this.object = { ...this.object, spec: { ...this.object.spec, ...spec } };
  }

  /** Another process goes on with the resource. */
  restart(): void {
    this.#memory = new Memory();
  }

  ensure() {
    return this.flow.ensure(this.#context());
  }

  remove() {
    return this.flow.remove(this.#context());
  }

  /** As `reconcile`, with what is thrown as its reason. */
  async outcome() {
    return ((await this.ensure().catch(reportFailure)) as Report).reason;
  }

  async reconcile() {
    return ((await this.ensure()) as Report).reason;
  }

  /** With its status. */
  async settle(): Promise<NonNullable<Report['fields']>> {
    const { fields = {} } = (await this.ensure()) as Report;
    this.object = { ...this.object, status: { ...fields, conditions: [ready] } };
    return fields;
  }

  /** What the next look comes to, in so many milliseconds; with its status, and the conditions as they are. */
  async look(ms: number): Promise<Report> {
    this.now += ms;
    const report = (await this.ensure()) as Report;
    const { conditions } = this.object.status ?? {};
    if (report.fields !== undefined) this.object = { ...this.object, status: { ...report.fields, conditions } };
    return report;
  }

  /** As an earlier version left it: with the generation that the tunnel was started for. */
  leftBy(record: object): void {
    const annotations = { [annotation.startedTunnel]: JSON.stringify(record) };
    const status = { agentURL, tunnelName: 'web', uri: '/api/tunnels/web', conditions: [ready] };
    this.object = { ...this.object, metadata: { ...this.object.metadata, annotations }, status };
    this.running = shown({ name: 'web', proto: 'http', addr: '8080' });
  }

  #context() {
    const connection = { key: 'ns/dev', client: undefined };
    const claimants = (claim: string) => this.peers.filter((peer) => this.flow.claims(peer).includes(claim));
    const record: Recorder['record'] = ({ reason, note }) => this.events.push(`${reason}: ${note}`);
    const given = { writer: this.#writer(), memory: this.#memory, now: () => this.now, connection, claimants, record };
    const context = contextOf(this.object, given);
    return { ...context, occasion: { ...context.occasion, requested: this.isRequested } };
  }

  #writer(): ObjectWriter {
    const writer: Partial<ObjectWriter> = {
      record: async (read, records) => {
        const isThere = Object.entries(records).every(([name, value]) => read.metadata.annotations?.[name] === value);
        return isThere ? read : this.#annotate(read, records);
      },
      insist: async (read, annotations) => this.#annotate(read, annotations(read)),
      confirm: async (read) => {
        if (this.isGone) throw new Error('it has gone');
        return read;
      },
    };
    return writer as ObjectWriter;
  }

  #annotate(read: ManagedObject, annotations: Annotations): ManagedObject {
    if (this.isDenied) throw new UnrecordedError('no record of it can be kept');
    const all = Object.entries({ ...read.metadata.annotations, ...annotations });
    const kept = Object.fromEntries(all.filter(([, value]) => value !== null)) as Record<string, string>;
    this.object = { ...read, metadata: { ...read.metadata, annotations: kept } };
    return this.object;
  }
}

export function shown({ name = '', proto, addr, inspect: _, ...options }: TunnelDefinition): Tunnel {
  const metrics = { conns: { ...rates, gauge: 0 }, http: rates };
  const config = { ...options, addr, inspect: true };
  return { name, uri: `/api/tunnels/${name}`, public_url: 'http://web.localhost', proto, config, metrics };
}

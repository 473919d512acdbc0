import { Dispatcher } from 'undici';
import { Exchange } from './exchange.ts';
import type { SimProcess } from './process.ts';
import type { Chance } from './random.ts';
import type { Scheduler } from './scheduler.ts';
import type { Answer, Listener, ServerRequest } from './server.ts';
import { shown, type Trace } from './trace.ts';

/** Where a process can die around one request. */
export const positions = ['before sending', 'after sending', 'after the act', 'after the answer'] as const;
export type Position = (typeof positions)[number];

/** Something that answers requests to an origin. */
export interface Service {
  readonly name: string;
  readonly origin: string;
  readonly listener: Listener;
  /** Of one way, in milliseconds. */
  readonly latency: readonly [from: number, to: number];
}

/** One request on its way. */
export interface Flight extends ServerRequest {
  /** Counts all requests of the world, from 1. */
  readonly id: number;
  readonly from: SimProcess;
  readonly to: Service;
  readonly isWatch: boolean;
  /** Virtual milliseconds. */
  readonly sentAt: number;
  /** When the service saw it, and what it answered; absent until then, and where it never did. */
  arrivedAt?: number;
  answer?: Answer;
}

/** What a perturbation does to one request. */
export interface Effect {
  /** Before it reaches the service, on top of the latency. */
  readonly delayMs?: number;
  /** Somebody before the service answers: it never sees the request. */
  readonly instead?: Answer;
  /** Lost on its way there or back: the client sees the connection break after `breaksAfterMs`, or nothing at all. */
  readonly lost?: 'request' | 'answer';
  /** The client sees the connection break this long after sending, whatever the service does later. */
  readonly breaksAfterMs?: number;
  /** Connecting fails: certainly nothing arrives. */
  readonly refused?: boolean;
  readonly answerDelayMs?: number;
  readonly change?: (answer: Answer) => Answer;
  /** The connection breaks in the middle of the body. */
  readonly halfTheBody?: boolean;
  /** What the service is asked in place of the path and query that the client asked for. */
  readonly path?: string;
  /** What it is sent in place of the body. */
  readonly body?: string;
  /** Of a watch: sent before what the service sends. */
  readonly ahead?: string;
}

/** One source of trouble: says what it does to a request, as it is sent. */
export type Rule = (flight: Flight) => Effect | undefined;

/** An open watch, as whoever perturbs sees it. */
export interface OpenStream {
  readonly flight: Flight;
  /** Ends it, cleanly or with an error. */
  cut(cleanly: boolean): void;
  /** Nothing more arrives until the function that it returns is called; of several holds the last to end counts. */
  hold(): () => void;
  /** All that is sent from now on arrives so much later, in its order; returns the function that ends that. */
  lag(ms: number): () => void;
  /** Of an object that changes several times within so long only the last state arrives; returns what ends that. */
  merge(ms: number): () => void;
  /** Its client is gone. */
  abandon(): void;
}

export interface NetworkOptions {
  readonly scheduler: Scheduler;
  readonly trace: Trace;
  readonly chance: Chance;
}

/** Carries every request of the world, in virtual time, through all that perturbs it. */
export class Network {
  readonly rules = new Set<Rule>();
  readonly streams = new Set<OpenStream>();
  /** Told of every watch as it begins. */
  readonly opened = new Set<(stream: OpenStream) => void>();
  /** Asked at every boundary of every request of every process; true kills the process there. */
  readonly crashes = new Set<(flight: Flight, position: Position) => boolean>();
  /** Told of every request that a service has answered, whether or not the answer arrives. */
  readonly observers = new Set<(flight: Flight) => void>();
  /** Told of every request as it leaves its process, whether or not it arrives. */
  readonly sendings = new Set<(flight: Flight) => void>();
  /** Told of every answer as it reaches its process, whoever gave it. */
  readonly arrivals = new Set<(flight: Flight, answer: Answer) => void>();
  onCrash: (process: SimProcess) => void = () => {};
  readonly #options: NetworkOptions;
  readonly #services = new Map<string, Service>();
  #sent = 0;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  /** How many requests there were. */
  get sent(): number {
    return this.#sent;
  }

  add(service: Service): void {
    this.#services.set(service.origin, service);
  }

  /** Its requests; of a dead process none leaves. */
  dispatcherOf(process: SimProcess): Dispatcher {
    return new ProcessDispatcher(process, this);
  }

  /** A process is gone: what it had open is closed. */
  forget(process: SimProcess): void {
    for (const stream of [...this.streams]) if (stream.flight.from === process) stream.abandon();
  }

  /** @internal */
  send(from: SimProcess, options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    const { scheduler, trace } = this.#options;
    if (!from.alive) return;
    // What it was about to send when it froze goes out when it thaws.
    if (from.frozen) {
      from.run(() => this.send(from, options, handler));
      return;
    }
    scheduler.stir();
    const to = this.#services.get(String(options.origin));
    const path = String(options.path);
    const flight: Flight = {
      id: ++this.#sent,
      from,
      to: to ?? nowhere(String(options.origin)),
      method: options.method,
      path,
      headers: lowerCased(options.headers),
      body: options.body === null || options.body === undefined ? undefined : String(options.body),
      isWatch: /[?&]watch=(?:true|1)\b/.test(path),
      sentAt: scheduler.now,
    };
    if (this.#dies(flight, 'before sending')) return;
    for (const tell of this.sendings) tell(flight);
    trace.add(from.name, `-> ${flight.to.name} #${flight.id} ${flight.method} ${path}${shown(flight.body)}`);
    new Exchange(flight, handler, this, this.#options, options).begin(
      to === undefined ? { refused: true } : this.#effect(flight),
    );
  }

  /** @internal */
  dies(flight: Flight, position: Position): boolean {
    return this.#dies(flight, position);
  }

  #dies(flight: Flight, position: Position): boolean {
    const { from } = flight;
    if (!from.alive) return true;
    let dies = false;
    for (const crash of this.crashes) dies = crash(flight, position) || dies;
    if (!dies) return false;
    this.#options.trace.add(from.name, `dies ${position} of #${flight.id}`);
    from.kill();
    this.onCrash(from);
    return true;
  }

  /** Of each kind of trouble the first counts. */
  #effect(flight: Flight): Effect {
    let effect: Effect = {};
    for (const rule of this.rules) effect = { ...rule(flight), ...effect };
    return effect;
  }
}

class ProcessDispatcher extends Dispatcher {
  readonly #process: SimProcess;
  readonly #network: Network;

  constructor(process: SimProcess, network: Network) {
    super();
    this.#process = process;
    this.#network = network;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.#network.send(this.#process, options, handler);
    return true;
  }

  override async close(): Promise<void> {}
  override async destroy(): Promise<void> {}
}

function nowhere(origin: string): Service {
  return { name: origin, origin, latency: [1, 1], listener: () => {} };
}

function lowerCased(headers: Dispatcher.DispatchOptions['headers']): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers ?? {})) texts[name.toLowerCase()] = String(value);
  return texts;
}

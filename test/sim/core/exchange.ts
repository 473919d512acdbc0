import { type Dispatcher, errors } from 'undici';
import { Channel } from './channel.ts';
import type { Effect, Flight, Network, NetworkOptions, OpenStream, Service } from './network.ts';
import { type Answer, ask, askWhole, type ServerRequest, type StreamedAnswer } from './server.ts';
import { shown } from './trace.ts';

const day = 86_400_000;

/** One request from its sending to the last byte of its answer. */
export class Exchange {
  readonly #flight: Flight;
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #network: Network;
  readonly #world: NetworkOptions;
  readonly #limits: { readonly headersMs: number; readonly bodyMs: number };
  readonly #latency: readonly [there: number, back: number];
  #over = false;
  /** The head of the answer has arrived. */
  #begun = false;
  #cancelTimeout: () => void = () => {};
  #upstream: StreamedAnswer | undefined;
  readonly #controller: Dispatcher.DispatchController;

  constructor(
    flight: Flight,
    handler: Dispatcher.DispatchHandler,
    network: Network,
    world: NetworkOptions,
    options: Dispatcher.DispatchOptions,
  ) {
    this.#flight = flight;
    this.#handler = handler;
    this.#network = network;
    this.#world = world;
    this.#limits = { headersMs: options.headersTimeout ?? 300_000, bodyMs: options.bodyTimeout ?? 300_000 };
    const [from, to] = flight.to.latency;
    this.#latency = [world.chance.between(from, to), world.chance.between(from, to)];
    const exchange = this;
    this.#controller = {
      get aborted() {
        return exchange.#over;
      },
      get paused() {
        return false;
      },
      get reason() {
        return null;
      },
      abort: (reason: Error) => exchange.#fail(reason),
      pause: () => {},
      resume: () => {},
    } as Dispatcher.DispatchController;
  }

  begin(effect: Effect): void {
    const { scheduler } = this.#world;
    this.#handler.onRequestStart?.(this.#controller, {});
    if (this.#over) return;
    if (this.#network.dies(this.#flight, 'after sending')) this.#over = true;
    const [there, back] = this.#latency;
    if (effect.refused) {
      this.#break(there, systemError('ECONNREFUSED', 'connect'));
      return;
    }
    this.#limit(this.#limits.headersMs, () => new errors.HeadersTimeoutError());
    if (effect.breaksAfterMs !== undefined) this.#break(effect.breaksAfterMs, systemError('ECONNRESET', 'read'));
    if (effect.instead !== undefined) {
      const { instead } = effect;
      scheduler.after(there + back + (effect.answerDelayMs ?? 0), () => this.#deliver(instead));
      return;
    }
    if (effect.lost === 'request') return;
    scheduler.after(there + (effect.delayMs ?? 0), () => {
      // What is on its way arrives, even if its connection broke or its process died: only `lost` keeps it from that.
      void scheduler.during(() => (this.#flight.isWatch ? this.#watch(effect) : this.#act(effect)));
    });
  }

  async #act(effect: Effect): Promise<void> {
    const { scheduler } = this.#world;
    const flight = this.#flight;
    flight.arrivedAt = scheduler.now;
    const answer = await askWhole(flight.to.listener, hostOf(flight.to), asked(flight, effect));
    flight.answer = answer;
    this.#world.trace.add(flight.to.name, `#${flight.id} ${answer.status}${shown(answer.body)}`);
    for (const observe of this.#network.observers) observe(flight);
    if (this.#network.dies(flight, 'after the act')) return;
    if (effect.lost === 'answer') return;
    const changed = effect.change?.(answer) ?? answer;
    scheduler.after(this.#latency[1] + (effect.answerDelayMs ?? 0), () => this.#deliver(changed, effect.halfTheBody));
  }

  #deliver(answer: Answer, half = false): void {
    const { from } = this.#flight;
    from.run(() => {
      if (this.#over) return;
      if (half) return this.#deliverHalf(answer);
      this.#end();
      this.#world.trace.add(from.name, `<- #${this.#flight.id} ${answer.status}`);
      for (const tell of this.#network.arrivals) tell(this.#flight, answer);
      this.#handler.onResponseStart?.(this.#controller, answer.status, { ...answer.headers });
      if (answer.body !== '') this.#handler.onResponseData?.(this.#controller, Buffer.from(answer.body));
      this.#handler.onResponseEnd?.(this.#controller, {});
      this.#world.scheduler.stir();
      this.#network.dies(this.#flight, 'after the answer');
    });
  }

  #deliverHalf({ status, headers, body }: Answer): void {
    this.#handler.onResponseStart?.(this.#controller, status, { ...headers });
    this.#handler.onResponseData?.(this.#controller, Buffer.from(body.slice(0, body.length / 2)));
    this.#fail(systemError('ECONNRESET', 'read'));
  }

  async #watch(effect: Effect): Promise<void> {
    if (this.#over) return;
    const { scheduler, trace } = this.#world;
    const flight = this.#flight;
    flight.arrivedAt = scheduler.now;
    const upstream = await ask(flight.to.listener, hostOf(flight.to), asked(flight, effect));
    this.#upstream = upstream;
    trace.add(flight.to.name, `#${flight.id} ${upstream.status} begins`);
    const { from } = flight;
    const channel = new Channel({
      scheduler,
      latencyMs: this.#latency[1] + (effect.answerDelayMs ?? 0),
      arrive: (what) => from.run(() => this.#over || what()),
      onText: (text) => {
        trace.add(from.name, `<~ #${flight.id}${shown(text)}`);
        this.#limit(this.#limits.bodyMs, () => new errors.BodyTimeoutError());
        this.#handler.onResponseData?.(this.#controller, Buffer.from(text));
        scheduler.stir();
      },
    });
    const stream: OpenStream = {
      flight,
      cut: (cleanly) => {
        if (this.#over) return;
        from.run(() => (cleanly ? this.#finish() : this.#fail(systemError('ECONNRESET', 'read'))));
      },
      hold: () => channel.hold(),
      lag: (ms) => channel.lag(ms),
      merge: (ms) => channel.merge(ms),
      abandon: () => {
        if (!this.#over) this.#end();
      },
    };
    this.#network.streams.add(stream);
    this.#onEnd = () => this.#network.streams.delete(stream);
    for (const tell of this.#network.opened) tell(stream);
    channel.pass(() => {
      this.#limit(this.#limits.bodyMs, () => new errors.BodyTimeoutError());
      this.#begun = true;
      this.#handler.onResponseStart?.(this.#controller, upstream.status, { ...upstream.headers });
      scheduler.stir();
    });
    const send = (text: string) => {
      scheduler.stir();
      channel.send(text);
    };
    if (effect.ahead !== undefined && upstream.status === 200) send(effect.ahead);
    upstream.read(send, () => channel.pass(() => this.#finish()));
  }

  #onEnd: () => void = () => {};

  #finish(): void {
    if (this.#over) return;
    // Before the head of an answer there is no end of it: the connection is gone.
    if (!this.#begun) {
      this.#fail(new errors.SocketError('other side closed'));
      return;
    }
    this.#end();
    this.#handler.onResponseEnd?.(this.#controller, {});
    this.#world.scheduler.stir();
  }

  #break(afterMs: number, error: Error): void {
    this.#flight.from.after(afterMs, () => this.#fail(error));
  }

  #fail(error: Error): void {
    if (this.#over) return;
    this.#end();
    this.#world.trace.add(this.#flight.from.name, `<x #${this.#flight.id} ${codeOf(error)}`);
    this.#handler.onResponseError?.(this.#controller, error);
    this.#world.scheduler.stir();
  }

  #end(): void {
    this.#over = true;
    this.#cancelTimeout();
    this.#upstream?.hangUp();
    this.#onEnd();
  }

  /** From now on; 0 is no limit. */
  #limit(ms: number, error: () => Error): void {
    this.#cancelTimeout();
    if (ms > 0) this.#cancelTimeout = this.#flight.from.after(Math.min(ms, day), () => this.#fail(error()));
  }
}

const asked = (flight: Flight, { path = flight.path, body = flight.body }: Effect): ServerRequest => ({
  ...flight,
  path,
  body,
});

const hostOf = ({ origin }: Service): string => origin.slice('http://'.length);

function systemError(code: string, syscall: string): Error {
  return Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
}

function codeOf(error: unknown): string {
  const { code, name } = error as { readonly code?: unknown; readonly name?: string };
  return typeof code === 'string' ? code : (name ?? 'error');
}

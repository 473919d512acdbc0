import { Breaker } from '../../../../common/breaker.ts';
import { type Call, waitAway } from '../../../../common/call.ts';
import type { Clock } from '../../../../common/clock.ts';
import { ApiError } from '../../../../common/http/errors.ts';
import type { OddItem } from '../../../../common/odd-item.ts';
import { AgentClient, type AgentClientOptions, type TunnelDefinition } from '../../../agent-client/client.ts';
import type { AgentStatus, Tunnel } from '../../../agent-client/schemas.ts';
import { ExternalCache } from '../../../reconcile/external/cache.ts';
import { fingerprint } from '../../../reconcile/resource/json.ts';
import { saidIn } from './words.ts';

const minRetryMs = 500;

/** Thousands of tunnels. Whatever listens there may answer more, and the lists of all agents are kept. */
const mostMiB = 2;
/** A status is short, and read in one step. */
const mostStatusMiB = 0.25;

/** A long list is followed by a pause: so many times what it took to read, for half a percent of a core each agent. */
const restPerWork = 200;
const longestRestMs = 120_000;

export interface AgentConnectionOptions extends AgentClientOptions {
  /** For order: what was seen when. */
  readonly monotonic: Clock;
  /** In 0..1, for jitter. */
  readonly random: () => number;
  /** Longest pause, in milliseconds, before an agent that is away is tried again. */
  readonly retryMs: number;
  /**
   * Tunnels came, went or changed since that was last told: those who have one are to look at it. Told once in `retryMs` at most,
   * for who is told and fails looks again: an agent that never shows the same twice would be asked for ever.
   */
  readonly onChange?: (() => void) | undefined;
  /** The number of tunnels may have changed. */
  readonly onCount?: (() => void) | undefined;
}

/** Something is listed that cannot be read, and is the tunnel that is asked for, or may be. */
export class OddTunnelError extends ApiError {
  constructor(problem: string) {
    const message = `the response is malformed: ${problem}`;
    super(message, { operation: 'tunnels.list', reason: 'Unreachable', definite: false, status: 200 });
  }
}

/** One agent, with the one client and list of tunnels that everything using it shares. */
export class AgentConnection {
  readonly url: string;
  readonly client: AgentClient;
  readonly #options: AgentConnectionOptions;
  readonly #tunnels: ExternalCache<Tunnel>;
  /** While the agent is away one finds out for all whether it is back. */
  readonly #breaker: Breaker<ApiError>;
  /**
   * When the agent was last found to be away, or an answer of it was given up: what was seen before may have ended with it, or with
   * what was sent.
   */
  #doubtedAt = Number.NEGATIVE_INFINITY;
  #status: { readonly at: number; readonly status: AgentStatus } | undefined;
  /** Of the list that was last told of, without what changes all the time. */
  #shape: string | undefined;
  #toldAt = Number.NEGATIVE_INFINITY;
  /** Until when the agent is not listed again. */
  #restsUntil = Number.NEGATIVE_INFINITY;

  constructor(options: AgentConnectionOptions) {
    const { url, monotonic } = options;
    this.url = url;
    this.client = new AgentClient(options);
    this.#options = options;
    const { random, retryMs: maxMs } = options;
    this.#breaker = new Breaker({ minMs: minRetryMs, maxMs, now: () => monotonic.now(), random });
    this.#tunnels = new ExternalCache({
      list: (call, onOdd) => this.#list(call, onOdd),
      // An unnamed tunnel is told apart by its address.
      identityOf: ({ name, uri }) => ({ id: name || uri, createdAt: '' }),
      now: () => monotonic.now(),
      rest: (call) => this.#rest(call),
    });
  }

  /** How the agent does, as of `since` or later. Throws an ApiError. */
  async check(since: number, call: Call): Promise<{ readonly status: AgentStatus; readonly tunnels: number }> {
    const ask = async () => {
      // One after the other, so that whoever asks an agent that is away is told the same.
      await this.#look(since, call);
      return this.#statusAsOf(since, call);
    };
    const status = await waitAway(call, () => this.#try(ask));
    return { status, tunnels: this.running().length };
  }

  /**
   * The tunnel of this name as of `since` or later, by a list that all who ask share. Throws an ApiError, an OddTunnelError where
   * one that cannot be read is it, or may be; while the agent is away at once, without a call.
   */
  async find(name: string, since: number, call: Call): Promise<Tunnel | undefined> {
    this.#breaker.check();
    await this.#try(() => this.#look(since, call));
    const found = this.#tunnels.known(name, Math.max(since, this.#doubtedAt));
    if (found === undefined) this.#checkOdd(name);
    return found;
  }

  async start(definition: TunnelDefinition, call: Pick<Call, 'away' | 'signal'> = {}): Promise<Tunnel> {
    const tunnel = await this.#send(call, () => this.client.startTunnel(definition, call));
    this.#tunnels.record(tunnel, this.#options.monotonic.now());
    this.#options.onCount?.();
    return tunnel;
  }

  async stop(name: string, call: Pick<Call, 'away' | 'signal'> = {}): Promise<void> {
    await this.#send(call, () => this.client.stopTunnel(name, call));
    this.#tunnels.forget(name);
    this.#options.onCount?.();
  }

  /** As last seen; none while the agent is away. */
  running(): readonly Tunnel[] {
    return this.#breaker.failure !== undefined ? [] : this.#tunnels.current();
  }

  /** When the agent, which is away, is to be tried again. */
  retryInMs(): number {
    return this.#breaker.retryInMs();
  }

  /** Resolves when the requests under way have ended. */
  async close(): Promise<void> {
    this.#tunnels.close();
    await this.client.close();
  }

  async #send<T>(call: Pick<Call, 'away' | 'signal'>, request: () => Promise<T>): Promise<T> {
    try {
      return await waitAway(call, request);
    } catch (error) {
      if (call.signal?.aborted === true) this.#doubtedAt = this.#options.monotonic.now();
      throw error;
    }
  }

  #try<T>(attempt: () => Promise<T>): Promise<T> {
    return this.#breaker.try(attempt, (error) => {
      if (!(error instanceof ApiError)) return undefined;
      this.#doubtedAt = this.#options.monotonic.now();
      return asAway(error);
    });
  }

  /** What is listed and cannot be read is there all the same: neither is it gone, nor is another of its name to be started. */
  #checkOdd(name: string): void {
    const odd = this.#tunnels.odd();
    const one = odd.find(({ id }) => id === name) ?? odd.find(({ id }) => id === undefined);
    if (one === undefined) return;
    const which = one.id === undefined ? `a tunnel that has no name, and may be ${name}` : `tunnel ${name}`;
    throw new OddTunnelError(`${which}: ${one.problem}`);
  }

  /** What was seen before is not relied on: it may have ended meanwhile, or begun. */
  #look(since: number, call: Call): Promise<readonly Tunnel[]> {
    return this.#tunnels.sweep(Math.max(since, this.#doubtedAt), call);
  }

  async #statusAsOf(since: number, { signal }: Call): Promise<AgentStatus> {
    const known = this.#status;
    if (known !== undefined && known.at >= Math.max(since, this.#doubtedAt)) return known.status;
    const at = this.#options.monotonic.now();
    const status = saidIn(await this.client.status({ mostMiB: mostStatusMiB, signal }));
    this.#status = { at, status };
    return status;
  }

  async #list({ signal }: Call, onOdd: (item: OddItem) => void): Promise<readonly Tunnel[]> {
    const shapes: string[] = [];
    const { tunnels } = await this.client.listTunnels({
      ...{ mostMiB, signal },
      reader: {
        onOdd: (item) => {
          shapes.push(fingerprint(item));
          onOdd(item);
        },
        onTunnel: ({ metrics: _, ...rest }) => shapes.push(fingerprint(rest)),
      },
      onSpent: (ms) => {
        this.#restsUntil = this.#options.monotonic.now() + Math.min(ms * restPerWork, longestRestMs);
      },
    });
    // The same whatever order they come in.
    if (this.#isNews(fingerprint(shapes.sort()))) {
      this.#options.onChange?.();
      this.#options.onCount?.();
    }
    return tunnels;
  }

  /** Whatever listens there may answer at any length, and whoever may write a resource has it asked at any time. */
  #rest({ signal }: Call): Promise<void> | undefined {
    const { monotonic } = this.#options;
    const ms = this.#restsUntil - monotonic.now();
    return ms > 0 ? monotonic.sleep(ms, signal) : undefined;
  }

  #isNews(shape: string): boolean {
    const now = this.#options.monotonic.now();
    const isFirst = this.#shape === undefined;
    if (this.#shape === shape || (!isFirst && now - this.#toldAt < this.#options.retryMs)) return false;
    this.#shape = shape;
    if (!isFirst) this.#toldAt = now;
    return !isFirst;
  }
}

/** What has no status and no tunnels is no agent. */
function asAway(error: ApiError): ApiError {
  if (error.status !== 404) return error;
  return new ApiError('this is no Local Agent API; check the address of the agent', {
    ...error,
    reason: 'Unreachable',
    cause: error,
  });
}

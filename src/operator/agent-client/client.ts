import type { LookupFunction } from 'node:net';
import type { Clock } from '../../common/clock.ts';
import { type Answer, body, bodyOrAbsent, done, doneOrAbsent } from '../../common/http/answer.ts';
import { notSent } from '../../common/http/failure.ts';
import { HttpClient, type Operation } from '../../common/http/http-client.ts';
import type { Timeouts } from '../../common/http/service.ts';
import { parseBaseURL, pathOf } from '../../common/http/url.ts';
import type { Runtime } from '../../common/runtime.ts';
import { parseSwitch } from '../../common/usage.ts';
import type { AgentRoot, AgentStatus, CapturedRequest, RequestList, Tunnel, TunnelList } from './schemas.ts';
import {
  agentStatusSchema,
  capturedRequestSchema,
  requestListSchema,
  rootSchema,
  tunnelListSchema,
  tunnelSchema,
} from './schemas.ts';
import { agentService } from './service.ts';
import { readTunnels, type TunnelReader } from './tunnel-list.ts';
import { Turn, Turns, type TurnTaking } from './turns.ts';

export interface AgentClientOptions extends Pick<Runtime, 'clock' | 'monotonic' | 'dispatcher'> {
  /** Of the agent, such as `http://127.0.0.1:4040`, with or without `/api`. */
  readonly url: string;
  readonly userAgent: string;
  /** Default 5 s to connect, 10 s for headers, 10 s without a byte of the body, and 15 s for all of it. */
  readonly timeouts?: Timeouts;
  /** Asked before each request; rejects, with an error of the caller's own, where none may be sent. */
  readonly admit?: () => Promise<unknown>;
  /** Finds the addresses of the host name, where no dispatcher is given; default the system's. */
  readonly lookup?: LookupFunction;
  /** Called right before a request is sent; what it throws stops the request. */
  readonly guard?: () => void;
  /** In which long answers are read; default turns of its own. */
  readonly turns?: TurnTaking;
}

/** A tunnel as the agent's configuration file has it; which further parameters there are, the agent says. */
export interface TunnelDefinition {
  readonly name?: string;
  readonly proto: string;
  /** Where to forward. */
  readonly addr: string;
  readonly [parameter: string]: unknown;
}

/** How long an answer that is long is waited for, once it has come. */
export interface Waiting {
  /** Ends the wait for its turn: what was asked for is done, or not. */
  readonly signal?: AbortSignal | undefined;
}

export interface ReadOptions extends Waiting {
  readonly mostMiB?: number;
}

export interface ListOptions extends ReadOptions {
  /** Without it a tunnel that cannot be read is an error. */
  readonly reader?: TunnelReader;
  /** Told how long it took to read a long answer, well or not, in milliseconds. */
  readonly onSpent?: (ms: number) => void;
}

export interface RequestFilter {
  /** At most so many, at least 1. */
  readonly limit?: number | undefined;
  /** Only those that came through this tunnel. */
  readonly tunnelName?: string | undefined;
}

export interface Replay {
  /** Of the captured request. */
  readonly id: string;
  /** Default the tunnel that the request came through. */
  readonly tunnelName?: string | undefined;
}

const tunnelsPath = '/api/tunnels';
const requestsPath = '/api/requests/http';
// Captures hold whole messages, in base64, and the list has all of them.
const largestAnswerMiB = 256;
const largestListMiB = 8;
/** A tunnel repeats the options that it was asked for. */
const largestOneMiB = 1;
const mostSecrets = 100;
/** A longer one is read in its turn: some hundred tunnels. */
const longAnswer = 32_768;

const read = {
  root: body(rootSchema),
  status: body(agentStatusSchema),
  tunnelList: body(tunnelListSchema),
  tunnel: bodyOrAbsent(tunnelSchema),
  startedTunnel: body(tunnelSchema, { success: [201] }),
  stopped: doneOrAbsent('stopped'),
  requestList: body(requestListSchema),
  request: bodyOrAbsent(capturedRequestSchema),
};

/**
 * All ten operations of the Local Agent API, section 4. Absent is undefined; every failure is an ApiError, which says
 * whether the request can have been carried out, or what `admit` rejected with. Nothing is retried here, and what was sent is always seen through.
 * A list of tunnels may have 8 MiB, captured requests 256 MiB, and all else 1 MiB. Safe to use concurrently.
 */
export class AgentClient {
  readonly #http: HttpClient;
  readonly #admit: (() => Promise<unknown>) | undefined;
  readonly #guard: (() => void) | undefined;
  readonly #turns: TurnTaking;
  readonly #monotonic: Clock;

  /** @throws TypeError for a URL that is not usable. */
  constructor(options: AgentClientOptions) {
    // As agents speak.
    const baseURL = parseBaseURL(options.url, agentService.urlName, 'http');
    baseURL.pathname = apiPrefixOf(baseURL);
    this.#http = new HttpClient(agentService, { ...options, baseURL });
    this.#admit = options.admit;
    this.#guard = options.guard;
    this.#monotonic = options.monotonic;
    this.#turns = options.turns ?? new Turns(options.monotonic).of('');
  }

  /** GET /api/ */
  root(): Promise<AgentRoot> {
    return this.#send({ name: 'root.get', method: 'GET', path: '/api/', read: read.root });
  }

  /** GET /api/status */
  status({ mostMiB = largestOneMiB, ...waiting }: ReadOptions = {}): Promise<AgentStatus> {
    const request = { name: 'status.get', method: 'GET', path: '/api/status', read: read.status } as const;
    return this.#send({ ...request, largestAnswerMiB: mostMiB }, waiting);
  }

  /** GET /api/tunnels: those that run. An odd one is left out where a reader is told of it, and else an error. */
  async listTunnels({ mostMiB = largestListMiB, reader, ...waiting }: ListOptions = {}): Promise<TunnelList> {
    const request = { name: 'tunnels.list', method: 'GET', path: tunnelsPath, read: read.tunnelList } as const;
    const answer = await this.#exchange({ ...request, largestAnswerMiB: mostMiB });
    const readList = (turn: Turn) =>
      reader === undefined ? read.tunnelList(answer) : readTunnels(answer, reader, turn);
    return this.#inTurn(answer, readList, waiting);
  }

  /** POST /api/tunnels. Our agent refuses an invalid definition and a name in use (`Rejected`, definite). */
  startTunnel(definition: TunnelDefinition, waiting?: Waiting): Promise<Tunnel> {
    const request = { name: 'tunnels.start', method: 'POST', path: tunnelsPath, body: definition } as const;
    return this.#send({ ...request, secrets: secretsOf(definition), read: read.startedTunnel }, waiting);
  }

  /** GET /api/tunnels/:name. `name` is the last segment of the tunnel's `uri`, decoded: its name where it has one. */
  getTunnel(name: string): Promise<Tunnel | undefined> {
    return this.#sendTo(tunnelsPath, name, { name: 'tunnels.get', method: 'GET', read: read.tunnel });
  }

  /** DELETE /api/tunnels/:name, as {@link getTunnel} has it. Cuts what is under way in it. */
  stopTunnel(name: string, waiting?: Waiting): Promise<'stopped' | 'absent'> {
    return this.#sendTo(tunnelsPath, name, { name: 'tunnels.stop', method: 'DELETE', read: read.stopped }, waiting);
  }

  /** GET /api/requests/http: those still held in memory; our agent gives the newest first. */
  listRequests({ limit, tunnelName }: RequestFilter = {}): Promise<RequestList> {
    const query = new URLSearchParams();
    if (limit !== undefined) query.set('limit', String(limit));
    if (tunnelName !== undefined) query.set('tunnel_name', tunnelName);
    const path = query.size === 0 ? requestsPath : `${requestsPath}?${query}`;
    return this.#send({ name: 'requests.list', method: 'GET', path, read: read.requestList, largestAnswerMiB });
  }

  /** GET /api/requests/http/:request_id */
  getRequest(
    id: string,
    { mostMiB = largestAnswerMiB, ...waiting }: ReadOptions = {},
  ): Promise<CapturedRequest | undefined> {
    const largest = { largestAnswerMiB: mostMiB };
    const operation = { name: 'requests.get', method: 'GET', read: read.request, ...largest } as const;
    return this.#sendTo(requestsPath, id, operation, waiting);
  }

  /**
   * POST /api/requests/http: sends the captured request to the local endpoint of the tunnel (Local Agent API,
   * section 4, rule 2). Not idempotent: an error that is not definite leaves open whether it ran. An unknown request
   * or tunnel is `NotFound`.
   */
  replay({ id, tunnelName }: Replay): Promise<void> {
    const body = { id, tunnel_name: tunnelName };
    return this.#send({ name: 'requests.replay', method: 'POST', path: requestsPath, body, read: done });
  }

  /** DELETE /api/requests/http: forgets all captured requests. */
  clearRequests(): Promise<void> {
    return this.#send({ name: 'requests.clear', method: 'DELETE', path: requestsPath, read: done });
  }

  /** Waits for the requests under way; an injected dispatcher stays open. */
  close(): Promise<void> {
    return this.#http.close();
  }

  /** To what has this name or id in the collection. */
  async #sendTo<T>(
    collection: string,
    name: string,
    operation: Omit<Operation<T>, 'path'>,
    waiting?: Waiting,
  ): Promise<T> {
    return this.#send({ ...operation, path: collection + pathOf(operation.name, name) }, waiting);
  }

  async #send<T>(operation: Operation<T>, waiting?: Waiting): Promise<T> {
    const answer = await this.#exchange(operation);
    return this.#inTurn(answer, () => operation.read(answer), waiting);
  }

  async #exchange(operation: Operation<unknown>): Promise<Answer> {
    await this.#admit?.();
    try {
      this.#guard?.();
    } catch (cause) {
      throw notSent(operation.name, cause);
    }
    const answer = await this.#http.exchange({ largestAnswerMiB: largestOneMiB, ...operation });
    // Errors of agents are short: another would be parsed for each question about it.
    return answer.status >= 300 && answer.text.length > longAnswer ? { ...answer, text: '' } : answer;
  }

  /** What is short is read at once. */
  async #inTurn<T>(
    { text }: Answer,
    readIn: (turn: Turn) => T | Promise<T>,
    { signal, onSpent = () => {} }: Waiting & Pick<ListOptions, 'onSpent'> = {},
  ): Promise<T> {
    if (text.length <= longAnswer) return readIn(new Turn(this.#monotonic));
    return this.#turns.take(async (turn) => {
      try {
        return await readIn(turn);
      } finally {
        onSpent(turn.spentMs);
      }
    }, signal);
  }
}

/**
 * Further parameters may be credentials: a message repeats no text of them. A switch in quotes is none, and what to write instead
 * is the same word.
 */
function secretsOf({ name: _name, proto: _proto, addr: _addr, ...parameters }: TunnelDefinition): readonly string[] {
  const texts: string[] = [];
  JSON.stringify(parameters, (_, value: unknown) => {
    const isText = typeof value === 'string' && parseSwitch(value) === undefined;
    if (isText && texts.length < mostSecrets) texts.push(value);
    return value;
  });
  return texts;
}

/** The path before `/api/`, of an address of an agent with or without that: without a slash at its end. */
export function apiPrefixOf({ pathname }: URL): string {
  return pathname.replace(/\/api\/?$/, '').replace(/\/+$/, '');
}

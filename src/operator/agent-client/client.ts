import { encodedPath } from '../../common/http/path.ts';
import { body, bodyOrAbsent, done, stopped } from './answer.ts';
import { AgentError } from './errors.ts';
import type { AgentRoot, AgentStatus, CapturedRequest, RequestList, Tunnel, TunnelList } from './schemas.ts';
import {
  agentStatusSchema,
  capturedRequestSchema,
  requestListSchema,
  rootSchema,
  tunnelListSchema,
  tunnelSchema,
} from './schemas.ts';
import { type AgentClientOptions, Transport } from './transport.ts';

/** A tunnel as the agent's configuration file has it; which further parameters there are, the agent says. */
export interface TunnelDefinition {
  readonly name?: string;
  readonly proto: string;
  /** Where to forward. */
  readonly addr: string;
  readonly [parameter: string]: unknown;
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
const capturesMiB = 256;

const read = {
  root: body(200, rootSchema),
  status: body(200, agentStatusSchema),
  tunnelList: body(200, tunnelListSchema),
  tunnel: bodyOrAbsent(tunnelSchema),
  startedTunnel: body(201, tunnelSchema),
  requestList: body(200, requestListSchema),
  request: bodyOrAbsent(capturedRequestSchema),
};

/**
 * All ten operations of the Local Agent API, section 4. Absent is undefined; every failure is an AgentError,
 * which says whether the request can have been carried out. Nothing is retried here, and what was sent is always seen
 * through. Answers may have 8 MiB, those with captured requests 256 MiB. Safe to use concurrently.
 */
export class AgentClient {
  readonly #transport: Transport;

  /** @throws TypeError for a URL that is not usable. */
  constructor(options: AgentClientOptions) {
    this.#transport = new Transport(options);
  }

  /** GET /api/ */
  root(): Promise<AgentRoot> {
    return this.#transport.send({ operation: 'root.get', method: 'GET', path: '/api/', read: read.root });
  }

  /** GET /api/status */
  status(): Promise<AgentStatus> {
    return this.#transport.send({ operation: 'status.get', method: 'GET', path: '/api/status', read: read.status });
  }

  /** GET /api/tunnels: those that run. */
  listTunnels(): Promise<TunnelList> {
    return this.#transport.send({
      operation: 'tunnels.list',
      method: 'GET',
      path: tunnelsPath,
      read: read.tunnelList,
    });
  }

  /** POST /api/tunnels. Our agent refuses an invalid definition and a name in use (`Rejected`, definite). */
  startTunnel(definition: TunnelDefinition): Promise<Tunnel> {
    return this.#transport.send({
      operation: 'tunnels.start',
      method: 'POST',
      path: tunnelsPath,
      body: definition,
      read: read.startedTunnel,
    });
  }

  /** GET /api/tunnels/:name. `name` is the last segment of the tunnel's `uri`, decoded: its name where it has one. */
  async getTunnel(name: string): Promise<Tunnel | undefined> {
    const operation = 'tunnels.get';
    const path = pathOf(operation, tunnelsPath, name);
    return this.#transport.send({ operation, method: 'GET', path, read: read.tunnel });
  }

  /** DELETE /api/tunnels/:name, as {@link getTunnel} has it. Cuts what is under way in it. */
  async stopTunnel(name: string): Promise<'stopped' | 'absent'> {
    const operation = 'tunnels.stop';
    const path = pathOf(operation, tunnelsPath, name);
    return this.#transport.send({ operation, method: 'DELETE', path, read: stopped });
  }

  /** GET /api/requests/http: those still held in memory; our agent gives the newest first. */
  listRequests({ limit, tunnelName }: RequestFilter = {}): Promise<RequestList> {
    const query = new URLSearchParams();
    if (limit !== undefined) query.set('limit', String(limit));
    if (tunnelName !== undefined) query.set('tunnel_name', tunnelName);
    return this.#transport.send({
      operation: 'requests.list',
      method: 'GET',
      path: query.size === 0 ? requestsPath : `${requestsPath}?${query}`,
      read: read.requestList,
      largestAnswerMiB: capturesMiB,
    });
  }

  /** GET /api/requests/http/:request_id */
  async getRequest(id: string): Promise<CapturedRequest | undefined> {
    const operation = 'requests.get';
    const path = pathOf(operation, requestsPath, id);
    const largestAnswerMiB = capturesMiB;
    return this.#transport.send({ operation, method: 'GET', path, read: read.request, largestAnswerMiB });
  }

  /**
   * POST /api/requests/http: sends the captured request to the local endpoint of the tunnel
   * (Local Agent API, section 4, rule 2). Not idempotent: an error that is not definite leaves open whether it ran. An
   * unknown request or tunnel is `NotFound`.
   */
  replay({ id, tunnelName }: Replay): Promise<void> {
    return this.#transport.send({
      operation: 'requests.replay',
      method: 'POST',
      path: requestsPath,
      body: { id, tunnel_name: tunnelName },
      read: done,
    });
  }

  /** DELETE /api/requests/http: forgets all captured requests. */
  clearRequests(): Promise<void> {
    return this.#transport.send({ operation: 'requests.clear', method: 'DELETE', path: requestsPath, read: done });
  }

  /** Waits for the requests under way; an injected dispatcher stays open. */
  close(): Promise<void> {
    return this.#transport.close();
  }
}

function pathOf(operation: string, collection: string, name: string): string {
  const path = encodedPath([name]);
  if (path !== undefined) return collection + path;
  const message = 'not sent, a name or id is empty, "." or ".."';
  throw new AgentError(message, { operation, reason: 'Rejected', definite: true });
}

import { readFile } from 'node:fs/promises';
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  type RequestListener,
  request,
  type Server,
} from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Agent, type AgentOptions, startAgent } from '../../src/agent/agent.ts';
import { readConfig } from '../../src/agent/config.ts';
import { until } from '../support/until.ts';

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
  readonly headers: Headers;
}

/** What tests do with a running agent, in this process or another. */
export interface AgentClient {
  /** A plain request to its API; a body goes as JSON. */
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Starts a tunnel and gives what the API answered. */
  tunnel(definition: Readonly<Record<string, unknown>>): Promise<Answer['body']>;
  /** The captured requests, newest first. */
  captures(query?: string): Promise<Answer['body'][]>;
  /** Begins a request through an http tunnel's public URL. */
  through(publicURL: string, options?: Parameters<typeof request>[1]): ClientRequest;
  /** A whole request through it. */
  visit(publicURL: string, options?: VisitOptions): Promise<Visited>;
}

export interface TestAgent extends Agent, AgentClient {}

export interface VisitOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
}

export interface Visited {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
  readonly trailers: IncomingMessage['trailers'];
  readonly text: string;
}

/** On free ports, with settings as agent.yml has them. */
export async function startTestAgent(
  settings: Readonly<Record<string, unknown>> = {},
  options: Partial<AgentOptions> = {},
): Promise<TestAgent> {
  const config = readConfig({ web_addr: '127.0.0.1:0', ...settings });
  const agent = await startAgent(config, { version: '1.2.3', ...options });
  return { ...agent, ...agentClient(agent) };
}

export function agentClient({ url, edgeURL }: Pick<Agent, 'url' | 'edgeURL'>): AgentClient {
  const call = (method: string, path: string, body?: unknown) => send(url, method, path, body);
  const through = (publicURL: string, more: Parameters<typeof request>[1] = {}) => {
    const { host, pathname, search } = new URL(publicURL);
    return request(edgeURL, {
      agent: false,
      path: pathname + search,
      ...more,
      headers: { host, ...(more.headers as object) },
    });
  };
  return {
    call,
    tunnel: async (definition) => (await call('POST', '/api/tunnels', definition)).body,
    captures: async (query = '') => (await call('GET', `/api/requests/http${query}`)).body.requests,
    through,
    visit: (publicURL, { body, ...more } = {}) => {
      const outgoing = through(publicURL, more as Parameters<typeof request>[1]);
      outgoing.end(body);
      return visited(outgoing);
    },
  };
}

async function send(url: string, method: string, path: string, body: unknown): Promise<Answer> {
  const json =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const response = await fetch(url + path, { method, ...json });
  const answered = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: answered === '' ? undefined : JSON.parse(answered),
  };
}

export async function answerTo(outgoing: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => outgoing.once('response', resolve).once('error', reject));
}

async function visited(outgoing: ClientRequest): Promise<Visited> {
  const answer = await answerTo(outgoing);
  const { statusCode = 0, headers, rawHeaders } = answer;
  const body = await text(answer);
  return { status: statusCode, headers, rawHeaders, trailers: answer.trailers, text: body };
}

export interface LocalServer {
  readonly server: Server;
  readonly port: number;
  /** As a tunnel's `addr`. */
  readonly addr: string;
  stop(): Promise<void>;
}

/** A server to forward to. */
export async function startLocal(listener: RequestListener): Promise<LocalServer> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  return { server, port, addr: `127.0.0.1:${port}`, stop };
}

/** Answers with what it was asked, as JSON. */
export const echo: RequestListener = (incoming, response) => {
  const { method, url, rawHeaders } = incoming;
  text(incoming).then(
    (body) => {
      const answer = JSON.stringify({ method, url, rawHeaders, body, trailers: incoming.trailers });
      response.setHeader('content-length', Buffer.byteLength(answer)).end(answer);
    },
    () => response.destroy(),
  );
};

/** A connection to the edge that speaks for itself. */
export function dial(url: string): Socket {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname);
}

/** Whether Linux will ask within so many seconds, of an idle connection of this process to or from a port, if the peer is there. */
export async function isProbed(port: number, withinSeconds: number): Promise<boolean> {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const ofPort = (await readFile('/proc/self/net/tcp', 'utf8'))
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(
      ([, local, remote, state]) => state === '01' && (local?.endsWith(`:${hex}`) || remote?.endsWith(`:${hex}`)),
    );
  // Of the timer its kind, 2 for keep-alive, and hundredths of seconds.
  return ofPort.some(([, , , , , timer = '']) => {
    const [kind, when = ''] = timer.split(':');
    return kind === '02' && Number.parseInt(when, 16) <= 100 * withinSeconds;
  });
}

/** The count once it has begun and grows no more. */
export async function standstill(count: () => number): Promise<number> {
  let before = -1;
  await until('a standstill', async () => {
    const stopped = count() > 0 && count() === before;
    before = count();
    await new Promise((resolve) => setTimeout(resolve, 100));
    return stopped;
  });
  return before;
}

/** A captured message's start line, header lines and body. */
export function readRaw(base64: string): { readonly head: string; readonly body: string } {
  const raw = Buffer.from(base64, 'base64').toString('latin1');
  const end = raw.indexOf('\r\n\r\n');
  return { head: raw.slice(0, end), body: raw.slice(end + 4) };
}

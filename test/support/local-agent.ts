import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type AgentProcess, startAgentProcess } from './agent-process.ts';

export interface RunningTunnel {
  readonly name: string;
  readonly public_url: string;
  readonly proto: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/** An agent process that can be killed and started again at the same address. */
export class LocalAgent {
  readonly #port: number;
  #process: AgentProcess | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  /** Of its API. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    this.#process = await startAgentProcess(['--web-addr', `127.0.0.1:${this.#port}`]);
  }

  /** SIGKILL, unless another signal is given; resolves when it has ended. */
  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await this.#process?.stop(signal);
  }

  async tunnels(): Promise<readonly RunningTunnel[]> {
    return (await this.#call('GET', '/api/tunnels')).tunnels;
  }

  startTunnel(definition: object): Promise<RunningTunnel> {
    return this.#call('POST', '/api/tunnels', definition);
  }

  async stopTunnel(name: string): Promise<void> {
    await this.#call('DELETE', `/api/tunnels/${encodeURIComponent(name)}`);
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  async #call(method: string, path: string, body?: object): Promise<any> {
    const json =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const response = await fetch(this.url + path, { method, ...json });
    const answered = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answered}`);
    return answered === '' ? undefined : JSON.parse(answered);
  }
}

/** Ports that were free a moment ago. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  await Promise.all(servers.map((server) => once(server.listen(0, '127.0.0.1'), 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

/** What a GET of a tunnel's public URL answers, wherever its host name leads. */
export async function visit(publicURL: string): Promise<string> {
  const { host, port } = new URL(publicURL);
  const outgoing = request({ host: '127.0.0.1', port, headers: { host }, agent: false }).end();
  const [answer] = await once(outgoing, 'response');
  return text(answer);
}

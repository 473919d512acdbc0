import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { startAgent } from '../../src/agent/agent.ts';
import { readConfig } from '../../src/agent/config.ts';
import { startAgentProcess } from './agent-process.ts';

export interface RunningTunnel {
  readonly name: string;
  readonly public_url: string;
  readonly proto: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/** An agent that can be stopped and started again at the same address. */
export class LocalAgent {
  readonly #port: number;
  readonly #where: 'here' | 'process';
  #end: (() => Promise<unknown>) | undefined;

  /** @param where in the test's own process, or as a process of its own, which is killed */
  constructor(port: number, where: 'here' | 'process' = 'here') {
    this.#port = port;
    this.#where = where;
  }

  /** Of its API. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    const web_addr = `127.0.0.1:${this.#port}`;
    if (this.#where === 'here') {
      const agent = await startAgent(readConfig({ web_addr }), { version: '1.2.3' });
      this.#end = () => agent.close();
    } else {
      const { stop } = await startAgentProcess(['--web-addr', web_addr]);
      this.#end = () => stop('SIGKILL');
    }
  }

  async stop(): Promise<void> {
    await this.#end?.();
    this.#end = undefined;
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

/** What a GET of a tunnel's public URL answers, wherever its host name leads. */
export async function visit(publicURL: string): Promise<string> {
  const { host, port } = new URL(publicURL);
  const outgoing = request({ host: '127.0.0.1', port, headers: { host }, agent: false }).end();
  const [answer] = await once(outgoing, 'response');
  return text(answer);
}

import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../clock.ts';

export interface Recorded {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Respond = (response: ServerResponse) => void;

/** A server for tests that plays its script, one entry a request, and 500 when the script is over. */
export interface ScriptedServer {
  readonly url: string;
  readonly requests: readonly Recorded[];
  play(...script: readonly Respond[]): void;
  /** Cuts open connections. */
  close(): Promise<void>;
}

export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Respond {
  return text(status, JSON.stringify(body), { 'content-type': 'application/json', ...headers });
}

export function text(status: number, body = '', headers: Readonly<Record<string, string>> = {}): Respond {
  return (response) => response.writeHead(status, headers).end(body);
}

/** What says 404 in place of a service: as a gateway without its route, or another server. */
export const foreign404s: readonly (readonly [name: string, respond: Respond])[] = [
  ['no body', text(404)],
  ['HTML', text(404, '<html>not here</html>', { 'content-type': 'text/html' })],
  ['an empty object', json(404, {})],
  ['the JSON of a gateway', json(404, { message: 'no Route matched' })],
];

/** Its headers come after `ms`, and then one byte after the other, each before a client would miss it, without end. */
export function drops(ms: number): Respond {
  return (response) => {
    let drip: NodeJS.Timeout | undefined;
    const head = setTimeout(() => {
      response.writeHead(200);
      drip = setInterval(() => response.write(' '), 10);
    }, ms);
    response.once('close', () => {
      clearTimeout(head);
      clearInterval(drip);
    });
  };
}

/** A time that goes by a hundred times as fast for the timeouts of whole requests, and what they were. */
export function hurried(clock: Clock): { readonly monotonic: Clock; readonly asked: readonly number[] } {
  const asked: number[] = [];
  const timeout = (ms: number) => {
    asked.push(ms);
    return clock.timeout(ms / 100);
  };
  return { monotonic: { ...clock, timeout }, asked };
}

export async function startScriptedServer(): Promise<ScriptedServer> {
  const script: Respond[] = [];
  const requests: Recorded[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers } = request;
    requests.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
    const respond = script.shift() ?? text(500, 'the script is over');
    respond(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    play: (...entries) => {
      script.push(...entries);
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

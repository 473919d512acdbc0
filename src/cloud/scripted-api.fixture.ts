import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CloudClient } from './client.ts';
import { Limiter } from './limiter.ts';
import type { RequestReport, TransportOptions } from './transport.ts';

export interface Recorded {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Respond = (response: ServerResponse) => void;

/** A server for tests that plays its script, one entry a request, and 500 when the script is over. */
export interface ScriptedAPI {
  readonly url: string;
  readonly requests: readonly Recorded[];
  readonly reports: readonly RequestReport[];
  play(...script: readonly Respond[]): void;
  client(options?: Partial<TransportOptions>): CloudClient;
  close(): Promise<void>;
}

export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Respond {
  return text(status, JSON.stringify(body), { 'content-type': 'application/json', ...headers });
}

export function text(status: number, body = '', headers: Readonly<Record<string, string>> = {}): Respond {
  return (response) => response.writeHead(status, headers).end(body);
}

export async function startScriptedAPI(): Promise<ScriptedAPI> {
  const script: Respond[] = [];
  const requests: Recorded[] = [];
  const reports: RequestReport[] = [];
  const clients: CloudClient[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers } = request;
    requests.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
    const respond = script.shift() ?? text(500, 'the script is over');
    respond(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    reports,
    play: (...entries) => {
      script.push(...entries);
    },
    client: (options = {}) => {
      const client = new CloudClient({
        baseURL: url,
        apiKey: () => 'key-for-tests',
        limiter: new Limiter({ requestsPerMinute: 10_000 }),
        userAgent: 'edge-operator/test',
        onRequest: (report) => reports.push(report),
        ...options,
      });
      clients.push(client);
      return client;
    },
    close: async () => {
      server.closeAllConnections();
      await Promise.all(clients.map((client) => client.close()));
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

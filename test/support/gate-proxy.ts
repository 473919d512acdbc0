import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';

export interface ProxiedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** Where a request is held for good: before it reaches the server, or after the server has done it. */
export type Side = 'before' | 'after';

export interface GateProxy {
  readonly url: string;
  /** Holds the first request that matches; resolves once it is held. What is held is never answered. */
  hold(side: Side, matches: (request: ProxiedRequest) => boolean): Promise<ProxiedRequest>;
  /** Breaks every connection, also of what is held. */
  cut(): void;
  close(): Promise<void>;
}

interface Gate {
  readonly side: Side;
  readonly matches: (request: ProxiedRequest) => boolean;
  readonly held: (request: ProxiedRequest) => void;
}

/** What the proxy answers itself, as JSON. */
export interface ProxyAnswer {
  readonly status: number;
  readonly body: object;
}

export interface GateProxyOptions {
  /** Default: a free one. */
  readonly port?: number;
  /** Sees every request before the API does, and may answer it in its place. */
  readonly intercept?: (request: ProxiedRequest) => Promise<ProxyAnswer | undefined>;
}

/** A proxy in front of an API, at which a test can stop one chosen request to see what happens then. */
export async function startGateProxy(target: string, options: GateProxyOptions = {}): Promise<GateProxy> {
  const { port = 0, intercept } = options;
  const gates: Gate[] = [];
  const send = target.startsWith('https:') ? requestHttps : requestHttp;

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { method = 'GET', url: path = '/' } = request;
    const seen = { method, path, body: body.toString() };
    const gate = gates.find((candidate) => candidate.matches(seen));
    if (gate !== undefined) gates.splice(gates.indexOf(gate), 1);
    if (gate?.side === 'before') return gate.held(seen);
    const own = await intercept?.(seen);
    if (own !== undefined) {
      response.writeHead(own.status, { 'content-type': 'application/json' }).end(JSON.stringify(own.body));
      return;
    }
    const upstream = send(
      new URL(path, target),
      { method, headers: request.headers, rejectUnauthorized: false },
      (answer) => {
        if (gate !== undefined) {
          answer.resume().once('end', () => gate.held(seen));
          return;
        }
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        response.flushHeaders();
        answer.pipe(response);
        answer.once('error', () => response.destroy());
      },
    );
    upstream.once('error', () => response.destroy());
    response.once('close', () => upstream.destroy());
    upstream.end(body);
  };

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold: (side, matches) => new Promise((held) => gates.push({ side, matches, held })),
    cut: () => server.closeAllConnections(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A copy of a kubeconfig that goes through the proxy. */
export function kubeconfigThrough(proxy: GateProxy, kubeconfig: string): { readonly path: string; remove(): void } {
  const dir = mkdtempSync(join(tmpdir(), 'edge-operator-test-'));
  const path = join(dir, 'kubeconfig');
  const config = parse(readFileSync(kubeconfig, 'utf8')) as { clusters: { cluster: { server: string } }[] };
  for (const { cluster } of config.clusters) cluster.server = proxy.url;
  writeFileSync(path, stringify(config));
  return { path, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

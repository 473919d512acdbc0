import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Address, listen } from '../../common/listen.ts';

export interface RouteAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** By exact path. */
export type Routes = Readonly<Record<string, () => Promise<RouteAnswer>>>;

export interface TelemetryServer {
  /** With the port it really has. */
  readonly url: string;
  close(): Promise<void>;
}

/** Undefined when all is well, else what is not. */
export type Check = () => string | undefined;

const plain = 'text/plain; charset=utf-8';

/** A smaller answer gains nothing. */
const smallestZipped = 1_024;

/** Serves GET and HEAD on a few paths, larger answers compressed to whoever accepts that. Rejects, naming the address, when it cannot listen there. */
export async function startTelemetryServer(options: {
  readonly address: Address;
  readonly routes: Routes;
}): Promise<TelemetryServer> {
  const routes = new Map(Object.entries(options.routes));
  const server = createServer((request, response) => {
    answer(routes, request)
      .catch((): RouteAnswer => ({ status: 500, contentType: plain, body: 'internal error\n' }))
      .then((found) => write(request, response, found))
      .catch(() => response.destroy());
  });
  const { text } = await listen(server, options.address);
  return { url: `http://${text}`, close: () => close(server) };
}

/** `/metrics`. */
export function metricsRoute(scrape: () => Promise<{ readonly contentType: string; readonly body: string }>): Routes {
  return { '/metrics': async () => ({ status: 200, ...(await scrape()) }) };
}

export interface HealthChecks {
  readonly healthy: Check;
  readonly ready: Check;
  /** What is not as it should be, and yet no reason not to be ready. */
  readonly remark?: Check;
}

/** `/healthz` and `/readyz`: 200, or 503 with the reason. */
export function healthRoutes({ healthy, ready, remark }: HealthChecks): Routes {
  return { '/healthz': async () => checked(healthy()), '/readyz': async () => checked(ready(), remark?.()) };
}

function checked(problem: string | undefined, remark?: string): RouteAnswer {
  if (problem === undefined)
    return { status: 200, contentType: plain, body: remark === undefined ? 'ok\n' : `ok; ${remark}\n` };
  return { status: 503, contentType: plain, body: `${problem}\n` };
}

async function answer(
  routes: ReadonlyMap<string, () => Promise<RouteAnswer>>,
  request: IncomingMessage,
): Promise<RouteAnswer> {
  const path = (request.url ?? '/').replace(/\?.*$/s, '');
  const route = routes.get(path);
  if (route === undefined) return { status: 404, contentType: plain, body: 'not found\n' };
  if (request.method === 'GET' || request.method === 'HEAD') return route();
  return { status: 405, contentType: plain, body: 'only GET and HEAD\n' };
}

async function write(request: IncomingMessage, response: ServerResponse, found: RouteAnswer): Promise<void> {
  const { status, contentType, body } = found;
  const isZipped = body.length >= smallestZipped && acceptsGzip(request);
  const bytes = isZipped ? await promisify(gzip)(body) : Buffer.from(body);
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': bytes.byteLength,
    'cache-control': 'no-store',
    vary: 'accept-encoding',
    ...(isZipped ? { 'content-encoding': 'gzip' } : {}),
    ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
  });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

/** Named, and not with a weight of 0. */
function acceptsGzip({ headers }: IncomingMessage): boolean {
  const accepted = String(headers['accept-encoding'] ?? '').split(',');
  return accepted.some((one) => /^\s*gzip\s*(;\s*q=(1|0?\.\d*[1-9]).*)?$/i.test(one));
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

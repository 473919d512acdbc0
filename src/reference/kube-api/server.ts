import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '../../common/clock.ts';
import { answer } from './api.ts';
import { Batches } from './batches.ts';
import { builtinTypes } from './builtin/types.ts';
import { type Certificate, createCertificate } from './certificate.ts';
import type { DataFile } from './data-file.ts';
import { EventLines } from './event-lines.ts';
import { Exchange } from './exchange.ts';
import { kubeconfigText } from './kubeconfig.ts';
import { Lifecycle } from './lifecycle.ts';
import { Objects } from './objects.ts';
import { Registry } from './registry.ts';
import { CelValidator } from './schema/cel.ts';
import { seed } from './seed.ts';
import { Store } from './store.ts';

export { loadCrds } from './load-crds.ts';

/** Importing it by name would load undici for one of its names: 30 ms and 6 MB. */
const http = process.getBuiltinModule('node:http');

export interface KubeApiOptions {
  /** 0 (the default) takes a free port. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** What clients must present; when absent a random one, which is kept where objects are. */
  readonly token?: string;
  /** Folder where objects are kept; in memory only when absent. */
  readonly dataDir?: string;
  /** Plain HTTP; clients must send the token all the same, which kubectl does over HTTPS only. Default HTTPS. */
  readonly http?: boolean;
  /** CustomResourceDefinitions that are established before the server answers. */
  readonly crds?: readonly object[];
  readonly clock?: Clock;
  /** How many writes a watch can be behind before it is told 410; default 10,000. */
  readonly historyLimit?: number;
  /** Time between two bookmarks of a watch; default one minute. */
  readonly bookmarkMs?: number;
}

export interface KubeApi {
  readonly url: string;
  readonly token: string;
  /** PEM of the server's own certificate, which clients must trust; undefined for plain HTTP. */
  readonly certificate: string | undefined;
  /** YAML text. */
  kubeconfig(): string;
  /** Ends the server and every open watch. */
  close(): Promise<void>;
}

/**
 * Starts a Kubernetes API on loopback, good enough for kubectl and for the operator; for trying and tests only.
 * Rejects when the port is taken, a CRD is invalid or the data folder cannot be used.
 */
export async function startKubeApi(options: KubeApiOptions = {}): Promise<KubeApi> {
  const { host = '127.0.0.1', port = 0, clock = systemClock } = options;
  const data = options.dataDir === undefined ? undefined : await openDataFile(options.dataDir);
  try {
    const store = new Store({ historyLimit: options.historyLimit ?? 10_000, persistence: data });
    const registry = new Registry(builtinTypes);
    const objects = new Objects(store, clock, { cel: new CelValidator(), patterns: new Map() });
    const stopLifecycle = new Lifecycle(store, registry, objects, clock).start();
    seed(objects, registry, options.crds ?? []);
    store.forget();
    const setting = (name: string, make: () => string) => data?.setting(name, make) ?? make();
    const token = options.token ?? setting('token', () => randomBytes(16).toString('hex'));
    const bookmarkMs = options.bookmarkMs ?? 60_000;
    const [lines, batches] = [new EventLines(), new Batches()];
    const context = { store, registry, objects, clock, token, bookmarkMs, lines, batches };
    const identity: Certificate | undefined = options.http
      ? undefined
      : JSON.parse(setting(`certificate of ${host}`, () => JSON.stringify(createCertificate(host, clock.now()))));
    const server = createServer(identity, (exchange) => void answer(exchange, context));
    server.listen(port, host);
    await once(server, 'listening');
    const url = `${identity === undefined ? 'http' : 'https'}://${host}:${(server.address() as AddressInfo).port}`;
    const certificate = identity?.certificate;
    const close = async () => {
      stopLifecycle();
      batches.close();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      data?.close();
    };
    return { url, token, certificate, kubeconfig: () => kubeconfigText({ url, token, certificate }), close };
  } catch (error) {
    data?.close();
    throw error;
  }
}

/** SQLite is loaded only where it is used. */
async function openDataFile(dir: string): Promise<DataFile> {
  const module = await import('./data-file.ts');
  return new module.DataFile(dir);
}

function createServer(identity: Certificate | undefined, handle: (exchange: Exchange) => void): HttpServer {
  const listener = (request: IncomingMessage, response: ServerResponse) => handle(new Exchange(request, response));
  const server =
    identity === undefined
      ? http.createServer(listener)
      : createHttpsServer({ key: identity.key, cert: identity.certificate }, listener);
  server.keepAliveTimeout = 120_000;
  server.requestTimeout = 0;
  return server;
}

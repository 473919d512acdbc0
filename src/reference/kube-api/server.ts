import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '../../clock.ts';
import { answer } from './api.ts';
import { Batches } from './batches.ts';
import { builtinTypes } from './builtin/types.ts';
import { createCertificate } from './certificate.ts';
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

export interface KubeApiOptions {
  /** 0 (the default) takes a free port. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** What clients must present; a random one when absent. */
  readonly token?: string;
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
  /** PEM of the server's own certificate, which clients must trust. */
  readonly certificate: string;
  /** YAML text. */
  kubeconfig(): string;
  /** Ends the server and every open watch. */
  close(): Promise<void>;
}

/**
 * Starts an in-memory Kubernetes API on loopback, good enough for kubectl and for the operator; for trying and tests
 * only. It speaks HTTPS because kubectl sends no token over plain HTTP. Rejects when the port is taken or a CRD is
 * invalid.
 */
export async function startKubeApi(options: KubeApiOptions = {}): Promise<KubeApi> {
  const { host = '127.0.0.1', port = 0, token = randomBytes(16).toString('hex'), clock = systemClock } = options;
  const store = new Store({ historyLimit: options.historyLimit ?? 10_000 });
  const registry = new Registry(builtinTypes);
  const objects = new Objects(store, clock, { cel: new CelValidator(), patterns: new Map() });
  const stopLifecycle = new Lifecycle(store, registry, objects, clock).start();
  seed(objects, registry, options.crds ?? []);
  const batches = new Batches();
  const context = {
    store,
    registry,
    objects,
    clock,
    token,
    bookmarkMs: options.bookmarkMs ?? 60_000,
    lines: new EventLines(),
    batches,
  };
  const { key, certificate } = createCertificate(host, clock.now());
  const server = createServer({ key, cert: certificate }, (request, response) => {
    void answer(new Exchange(request, response), context);
  });
  server.keepAliveTimeout = 120_000;
  server.requestTimeout = 0;
  server.listen(port, host);
  await once(server, 'listening');
  const url = `https://${host}:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    stopLifecycle();
    batches.close();
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { url, token, certificate, kubeconfig: () => kubeconfigText({ url, token, certificate }), close };
}

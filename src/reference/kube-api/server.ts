import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { WallClock } from '../../common/clock.ts';
import type { Listener } from '../../common/dated.ts';
import { systemRuntime } from '../../common/runtime.ts';
import { type Certificate, createCertificate } from './certificate.ts';
import { createKubeApi, type KubeApiCoreOptions } from './core.ts';
import { kubeconfigText } from './kubeconfig.ts';
import type { DataFile } from './store/data-file.ts';

export { loadCrds } from './types/load-crds.ts';

/** Importing it by name would load undici for one of its names: 30 ms and 6 MB. */
const http = process.getBuiltinModule('node:http');

export interface KubeApiOptions extends Omit<KubeApiCoreOptions, 'data'> {
  /** 0 (the default) takes a free port. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Folder where objects are kept; in memory only when absent. */
  readonly dataDir?: string;
  /** Plain HTTP; clients must send the token all the same, which kubectl does over HTTPS only. Default HTTPS. */
  readonly http?: boolean;
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
  const { host = '127.0.0.1', port = 0, runtime = systemRuntime } = options;
  const data = options.dataDir === undefined ? undefined : await openDataFile(options.dataDir);
  try {
    const core = createKubeApi({ ...options, data });
    const identity = options.http ? undefined : identityOf(host, runtime.clock, data);
    const server = createServer(identity, core.listener);
    server.listen(port, host);
    await once(server, 'listening');
    const url = `${identity === undefined ? 'http' : 'https'}://${host}:${(server.address() as AddressInfo).port}`;
    const { token } = core;
    const certificate = identity?.certificate;
    const close = async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      core.close();
      await closed;
      data?.close();
    };
    return { url, token, certificate, kubeconfig: () => kubeconfigText({ url, token, certificate }), close };
  } catch (error) {
    data?.close();
    throw error;
  }
}

/** It stays the same where objects are kept. */
function identityOf(host: string, clock: WallClock, data: DataFile | undefined): Certificate {
  const make = () => JSON.stringify(createCertificate(host, clock.now()));
  return JSON.parse(data?.setting(`certificate of ${host}`, make) ?? make());
}

/** SQLite is loaded only where it is used. */
async function openDataFile(dir: string): Promise<DataFile> {
  const module = await import('./store/data-file.ts');
  return new module.DataFile(dir);
}

function createServer(identity: Certificate | undefined, listener: Listener): HttpServer {
  const server =
    identity === undefined
      ? http.createServer(listener)
      : createHttpsServer({ key: identity.key, cert: identity.certificate }, listener);
  server.keepAliveTimeout = 120_000;
  server.requestTimeout = 0;
  return server;
}

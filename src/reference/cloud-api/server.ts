import type { AddressInfo } from 'node:net';
import { oneAddress } from '../../common/http-server/one-address.ts';
import { type CloudApiCore, type CloudApiCoreOptions, createCore } from './core.ts';

export interface CloudApiOptions extends CloudApiCoreOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0, a free one. */
  readonly port?: number;
}

/** A running Cloud Management API; closing it cuts open connections. */
export interface CloudApi extends Omit<CloudApiCore, 'listener'> {
  /** Without a trailing slash. */
  readonly url: string;
}

/**
 * Starts the server of the Cloud Management API, whole and persistent, on loopback.
 *
 * @throws SetupError when a key, the data file, a seed or a fault cannot be used.
 */
export async function startCloudApi(options: CloudApiOptions): Promise<CloudApi> {
  const { host = '127.0.0.1', port = 0 } = options;
  const { core, app } = await createCore(options);
  try {
    await app.listen(await oneAddress({ host, port }));
  } catch (error) {
    await app.close();
    throw error;
  }
  return { ...core, url: urlOf(app.server.address()) };
}

function urlOf(address: string | AddressInfo | null): string {
  if (address === null || typeof address === 'string') throw new Error('the server has no network address');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}

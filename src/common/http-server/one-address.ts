import { lookup } from 'node:dns/promises';
import type { Address } from '../listen.ts';

/**
 * `localhost` may be several addresses, on each of which Fastify listens with another server: one that has nothing of
 * what the first was given.
 */
export async function oneAddress({ host, port }: Address): Promise<Address> {
  return { host: host === 'localhost' ? (await lookup(host)).address : host, port };
}

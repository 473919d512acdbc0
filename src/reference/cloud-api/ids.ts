import { type Random, randomId } from '../../common/random-id.ts';

/** The type prefixes (Cloud Management API, section 2), and `op` for operation ids. */
export type IdPrefix = 'ra' | 'bot' | 'op';

export type NewId = (prefix: IdPrefix) => string;

export const idMaker =
  (random: Random): NewId =>
  (prefix) =>
    randomId(random, prefix);

/** An embedded reference (Cloud Management API, section 2). */
export interface Ref {
  readonly id: string;
  readonly uri: string;
}

/** Where the records of each id prefix would be read, were they more than a Ref. */
const folders: Readonly<Record<string, string>> = {
  ra: 'reserved_addrs',
  bot: 'bot_users',
  ep: 'endpoints',
  ec: 'endpoint_configurations',
  ipp: 'ip_policies',
  ca: 'certificate_authorities',
  edghts: 'edges/https',
  edgtls: 'edges/tls',
  rd: 'reserved_domains',
  tn: 'tunnels',
};

export const uriOf = (base: string, id: string): string => {
  const prefix = id.slice(0, id.lastIndexOf('_'));
  return `${base}/${folders[prefix] ?? prefix}/${id}`;
};

export const ref = (base: string, id: string): Ref => ({ id, uri: uriOf(base, id) });

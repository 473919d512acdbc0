import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '../../common/clock.ts';
import type { Random } from '../../common/random-id.ts';
import { readAccounts } from './accounts.ts';
import { createApp } from './app.ts';
import { openDatabase } from './database.ts';
import { endpointLeases } from './endpoint-leases.ts';
import { FaultSpecError } from './faults/fault-spec.ts';
import { Faults } from './faults/faults.ts';
import type { OnFailure } from './http.ts';
import { idMaker } from './ids.ts';
import { Journal, type JournalEntry } from './journal.ts';
import { operations } from './operations.ts';
import { RateLimit } from './rate-limit.ts';
import { applySeed, removeSeeded } from './seed/apply.ts';
import type { Seed } from './seed/schema.ts';
import { SetupError } from './setup-error.ts';
import { createWorld } from './world.ts';

export interface CloudApiOptions {
  /** `key` or `account=key`; a bare key is an account of its own. At least one. */
  readonly apiKeys: readonly string[];
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0, a free one. */
  readonly port?: number;
  /** SQLite file, made when missing; without it, memory. */
  readonly data?: string | undefined;
  /** What the API cannot create; laid again at every start, and it changes nothing that is there already. */
  readonly seeds?: readonly Seed[];
  /** Requests of an account in any rolling 60 s; default 120, 0 is no limit. */
  readonly rateLimit?: number;
  /** Faults set from the start; see docs/reference-cloud.md. */
  readonly faults?: readonly string[];
  /** Records requests and serves `/_faults` and `/_requests`; default false. */
  readonly faultControl?: boolean;
  /** Absolute base of `uri` values; default: the request's Host header. */
  readonly baseUrl?: string | undefined;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Told of requests that failed by a fault of the server; default nobody. */
  readonly onFailure?: OnFailure;
}

/** A running Cloud Management API. */
export interface CloudApi {
  /** Without a trailing slash. */
  readonly url: string;
  /** Account names, in the order of their keys. */
  readonly accounts: readonly string[];
  readonly faults: Faults;
  /** The recorded requests; empty unless `faultControl` is on. */
  requests(): readonly JournalEntry[];
  clearRequests(): void;
  /** Lays further seeds while it runs. */
  seed(seed: Seed): void;
  /** Takes a seeded object away, such as an endpoint that is no longer active; false when there was none. */
  unseed(account: string, id: string): boolean;
  /** Cuts open connections; what was answered is kept in the data file. */
  close(): Promise<void>;
}

/**
 * Starts the server of the Cloud Management API, whole and persistent, on loopback.
 *
 * @throws SetupError when a key, the data file, a seed or a fault cannot be used.
 */
export async function startCloudApi(options: CloudApiOptions): Promise<CloudApi> {
  if (options.apiKeys.length === 0) throw new SetupError('at least one API key is needed');
  const accounts = readAccounts(options.apiKeys);
  const random = options.random ?? Math.random;
  const faults = armFaults(options.faults ?? [], random);
  const journal = options.faultControl === true ? new Journal() : undefined;
  const clock = options.clock ?? systemClock;
  const newId = idMaker(random);
  const world = createWorld(openDatabase(options.data), clock, newId);
  const seed = (wanted: Seed) => applySeed(world, wanted, accounts.names);
  const app = createApp({
    operations: operations(world),
    agentRoutes: endpointLeases(world),
    accounts,
    rateLimit: new RateLimit(options.rateLimit ?? 120),
    faults,
    journal,
    baseUrl: options.baseUrl?.replace(/\/+$/, ''),
    clock,
    newId,
    onFailure: options.onFailure ?? (() => {}),
  });
  app.addHook('onClose', async () => world.database.close());
  const { host = '127.0.0.1', port = 0 } = options;
  try {
    for (const wanted of options.seeds ?? []) seed(wanted);
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    throw error;
  }
  return {
    url: urlOf(app.server.address()),
    accounts: accounts.names,
    faults,
    requests: () => journal?.entries() ?? [],
    clearRequests: () => journal?.clear(),
    seed,
    unseed: (account, id) => removeSeeded(world, account, id),
    close: () => app.close(),
  };
}

function armFaults(specs: readonly string[], random: Random): Faults {
  const faults = new Faults(random);
  try {
    for (const spec of specs) faults.add(spec);
    return faults;
  } catch (error) {
    if (error instanceof FaultSpecError) throw new SetupError(error.message, { cause: error });
    throw error;
  }
}

function urlOf(address: string | AddressInfo | null): string {
  if (address === null || typeof address === 'string') throw new Error('the server has no network address');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}

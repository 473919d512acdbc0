import type { FastifyInstance } from 'fastify';
import { dated, type Listener } from '../../common/dated.ts';
import { apiTimeouts, type ServerTimeouts } from '../../common/http-server/timeouts.ts';
import type { Random } from '../../common/random-id.ts';
import { type ServerRuntime, systemRuntime } from '../../common/runtime.ts';
import { readAccounts } from './accounts.ts';
import { createApp } from './app.ts';
import { openDatabase, settingUp } from './database.ts';
import { endpointLeases } from './endpoint-leases.ts';
import { FaultSpecError } from './faults/fault-spec.ts';
import { Faults } from './faults/faults.ts';
import type { OnFailure } from './http.ts';
import { Journal, type JournalEntry } from './journal.ts';
import { operations } from './operations.ts';
import { RateLimit } from './rate-limit.ts';
import { applySeed, removeSeeded } from './seed/apply.ts';
import type { Seed } from './seed/schema.ts';
import { SetupError } from './setup-error.ts';
import { createWorld } from './world.ts';

export interface CloudApiCoreOptions {
  /** `key` or `account=key`; a bare key is an account of its own. At least one. */
  readonly apiKeys: readonly string[];
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
  /** Default a minute for all of a request, and for the next one, and two between bytes of an answer. */
  readonly timeouts?: ServerTimeouts;
  /** Default that of the system. */
  readonly runtime?: ServerRuntime;
  /** Told of requests that failed by a fault of the server; default nobody. */
  readonly onFailure?: OnFailure;
}

/** A Cloud Management API that listens nowhere: whoever has it hands it requests. */
export interface CloudApiCore {
  readonly listener: Listener;
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
  /** Cuts requests that hang; what was answered is kept in the data file. */
  close(): Promise<void>;
}

/** @throws SetupError when a key, the data file, a seed or a fault cannot be used. */
export async function createCloudApi(options: CloudApiCoreOptions): Promise<CloudApiCore> {
  return (await createCore(options)).core;
}

/** With the app, which can listen. */
export async function createCore(
  options: CloudApiCoreOptions,
): Promise<{ readonly core: CloudApiCore; readonly app: FastifyInstance }> {
  if (options.apiKeys.length === 0) throw new SetupError('apiKeys', 'at least one API key is needed');
  const accounts = readAccounts(options.apiKeys);
  const { runtime = systemRuntime } = options;
  const faults = armFaults(options.faults ?? [], runtime.random);
  const journal = options.faultControl === true ? new Journal() : undefined;
  const world = createWorld(openDatabase(options.data), runtime);
  const seed = (wanted: Seed) => applySeed(world, wanted, accounts.names);
  const app = createApp({
    operations: operations(world),
    agentRoutes: endpointLeases(world),
    accounts,
    rateLimit: new RateLimit(options.rateLimit ?? 120),
    faults,
    journal,
    baseUrl: options.baseUrl?.replace(/\/+$/, ''),
    clock: runtime.clock,
    monotonic: runtime.monotonic,
    newId: world.newId,
    timeouts: options.timeouts ?? apiTimeouts,
    onFailure: options.onFailure ?? (() => {}),
  });
  app.addHook('onClose', async () => world.database.close());
  try {
    for (const wanted of options.seeds ?? []) settingUp(options.data, () => seed(wanted));
    await app.ready();
  } catch (error) {
    await app.close();
    throw error;
  }
  const core: CloudApiCore = {
    listener: dated(runtime.clock, app.routing),
    accounts: accounts.names,
    faults,
    requests: () => journal?.entries() ?? [],
    clearRequests: () => journal?.clear(),
    seed,
    unseed: (account, id) => removeSeeded(world, account, id),
    close: () => app.close(),
  };
  return { core, app };
}

function armFaults(specs: readonly string[], random: Random): Faults {
  const faults = new Faults(random);
  try {
    for (const spec of specs) faults.add(spec);
    return faults;
  } catch (error) {
    if (error instanceof FaultSpecError) throw new SetupError('faults', error.message, { cause: error });
    throw error;
  }
}

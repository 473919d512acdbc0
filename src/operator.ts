import { hostname } from 'node:os';
import { accountOf, CloudAccount } from './accounts/accounts.ts';
import { type Credential, credentialOf } from './accounts/credential.ts';
import { systemClock } from './clock.ts';
import { UsageError } from './commands/usage.ts';
import type { RunSettings } from './config.ts';
import { Leadership } from './controller/leadership.ts';
import { botUser } from './kinds/bot-user/kind.ts';
import {
  type ControllerOptions,
  identifiedController,
  type KindController,
  partsController,
} from './kinds/controller.ts';
import { httpsEdgeModules } from './kinds/https-edge-modules/kind.ts';
import { httpsRouteModules } from './kinds/https-route-modules/kind.ts';
import { reservedAddr } from './kinds/reserved-addr/kind.ts';
import { tlsEdgeTrafficPolicy } from './kinds/tls-edge-traffic-policy/kind.ts';
import { KubeClient } from './kube/client.ts';
import { connect, type KubeConnection } from './kube/connection.ts';
import { EventRecorder } from './kube/events.ts';
import { KubeConfigError } from './kube/kubeconfig.ts';
import { conditionOf } from './reconcile/fields.ts';
import { type Address, healthRoutes, metricsRoute, type Routes, startTelemetryServer } from './telemetry/http.ts';
import type { Log } from './telemetry/log.ts';
import { createMetrics, type Metrics } from './telemetry/metrics.ts';
import { userAgent, version } from './version.ts';

export interface OperatorOptions {
  readonly settings: RunSettings;
  /** The default account's key, when it is not in a file. */
  readonly apiKey: string | undefined;
  readonly log: Log;
  /** Longest time that the cloud may take to carry out a create after we lost sight of it; default 10 s. */
  readonly createSettleMs?: number;
}

/** Longer than the longest pause that a 429 may ask for: what takes longer hangs. */
const stuckMs = 2 * 3_600_000;
/** As long as any request of ours waits for its answer. */
const defaultCreateSettleMs = 10_000;

/**
 * Runs the operator until `signal` aborts; then finishes and records what is under way. Throws UsageError for settings
 * that cannot be used, and LeadershipLostError when another replica took over.
 */
export async function runOperator(options: OperatorOptions, signal: AbortSignal): Promise<void> {
  const { settings, log } = options;
  const credential = usable('--api-key-file', () => credentialOf(settings.apiKeyFile, options.apiKey));
  await using stack = new AsyncDisposableStack();
  const connection = stack.adopt(await connectTo(settings, log), (open) => open.close());
  const reader = new KubeClient(connection);
  const leadership = new Leadership(leaseOf(settings, connection, reader, log));
  const client = new KubeClient(connection.withGuard(() => leadership.check()));
  const metrics = createMetrics({ version });
  const account = openAccount(settings, credential, leadership, metrics);
  if (account !== undefined) stack.defer(() => account.client.close());
  const events = new EventRecorder({ client, instance: hostname(), log });
  const shared: ControllerOptions<CloudAccount['client']> = {
    reader,
    client,
    namespaces: settings.watchNamespaces,
    labelSelector: settings.labelSelector,
    accountOf: (object) => accountOf(account, object),
    events,
    clock: systemClock,
    log,
    concurrency: settings.concurrency,
    resyncIntervalMs: settings.resyncInterval,
    metrics,
  };
  const identified = { ...shared, createSettleMs: options.createSettleMs ?? defaultCreateSettleMs };
  const kinds = [
    identifiedController(reservedAddr, identified),
    identifiedController(botUser, identified),
    partsController(httpsRouteModules, shared),
    partsController(httpsEdgeModules, shared),
    partsController(tlsEdgeTrafficPolicy, shared),
  ];
  metrics.poll('resources', () => kinds.flatMap(readiness));
  await serveTelemetry(stack, settings, metrics, kinds, log);
  watch(stack, kinds, credential, log);
  log.info('started', { version, server: connection.server, apiURL: settings.apiUrl });
  await leadership.run(signal, async (leading) => {
    metrics.leader(true);
    await Promise.all(kinds.map((kind) => kind.run(leading)));
    await events.flush();
    metrics.leader(false);
  });
  log.info('stopped');
}

async function connectTo(settings: RunSettings, log: Log): Promise<KubeConnection> {
  try {
    return await connect({ kubeconfig: settings.kubeconfig, userAgent, log });
  } catch (error) {
    throw error instanceof KubeConfigError ? new UsageError(error.message) : error;
  }
}

function leaseOf(settings: RunSettings, connection: KubeConnection, client: KubeClient, log: Log) {
  if (!settings.leaderElect) return undefined;
  const namespace = settings.leaderElectNamespace ?? connection.namespace;
  const identity = `${hostname()}_${crypto.randomUUID()}`;
  return { client, namespace, name: 'edge-operator', identity, log };
}

function openAccount(
  settings: RunSettings,
  credential: Credential | undefined,
  leadership: Leadership,
  metrics: Metrics,
): CloudAccount | undefined {
  if (credential === undefined) return undefined;
  if (settings.apiUrl === undefined)
    throw new UsageError('--api-url is needed: the address of the Cloud Management API');
  const account = new CloudAccount('default', {
    baseURL: settings.apiUrl,
    apiKey: () => credential.key(),
    requestsPerMinute: settings.requestsPerMinute,
    userAgent,
    guard: () => leadership.check(),
    onRequest: (report) => metrics.cloudRequest(report),
  });
  metrics.budget(account.key, () => account.budget());
  return account;
}

function usable<T>(flag: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UsageError(`${flag}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Informers run on every replica, so that the next leader begins with warm caches. */
function watch(
  stack: AsyncDisposableStack,
  kinds: readonly KindController[],
  credential: Credential | undefined,
  log: Log,
): void {
  const watching = new AbortController();
  const enqueueAll = () => {
    for (const kind of kinds) kind.enqueueAll();
  };
  const running = [
    ...kinds.map((kind) => kind.resources.run(watching.signal)),
    credential?.watch(systemClock, log, watching.signal, enqueueAll),
  ];
  stack.defer(async () => {
    watching.abort();
    await Promise.all(running);
  });
}

async function serveTelemetry(
  stack: AsyncDisposableStack,
  settings: RunSettings,
  metrics: Metrics,
  kinds: readonly KindController[],
  log: Log,
): Promise<void> {
  const serve = async (name: string, address: Address | undefined, routes: Routes) => {
    if (address === undefined) return;
    const server = await startTelemetryServer({ address, routes });
    stack.defer(() => server.close());
    log.info(`serving ${name}`, { url: server.url });
  };
  await serve(
    'metrics',
    settings.metricsAddr,
    metricsRoute(() => metrics.scrape()),
  );
  const stuck = () => kinds.filter((kind) => kind.controller.oldestReconcileMs() > stuckMs).map((kind) => kind.kind);
  const healthy = () => (stuck().length === 0 ? undefined : `makes no progress: ${stuck().join(', ')}`);
  const waiting = () => kinds.filter((kind) => !kind.resources.synced).map((kind) => kind.kind);
  const ready = () => (waiting().length === 0 ? undefined : `not synced yet: ${waiting().join(', ')}`);
  await serve('health', settings.healthAddr, healthRoutes({ healthy, ready }));
}

function readiness({ kind, resources }: KindController) {
  return resources.list().map((object) => {
    const condition = conditionOf(object, 'Ready');
    return { labels: { kind, ready: condition?.status ?? 'Unknown', reason: condition?.reason ?? '' }, value: 1 };
  });
}

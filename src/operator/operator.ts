import { credentialOf } from '../common/credential/credential.ts';
import type { Log } from '../common/log.ts';
import { type Runtime, systemRuntime } from '../common/runtime.ts';
import { version } from '../common/version.ts';
import { BudgetLease } from './budget-lease.ts';
import { connectTo } from './connect-to.ts';
import { Leadership } from './controller/leadership.ts';
import { AgentFamily } from './kinds/agents/family.ts';
import { CloudFamily } from './kinds/cloud/family.ts';
import { agentKinds, cloudKinds } from './kinds/index.ts';
import { KubeClient } from './kube/client.ts';
import type { KubeConnection } from './kube/connection.ts';
import { EventRecorder } from './kube/events.ts';
import { InstallationName } from './kube/installation-name.ts';
import { observed } from './kube/observed.ts';
import { createMetrics, type Metrics } from './metrics/metrics.ts';
import { serveTelemetry } from './monitoring.ts';
import { Census } from './reconcile/external/census.ts';
import { Installation } from './reconcile/ownership/installation.ts';
import { Referents } from './reconcile/referents/referents.ts';
import type { RunSettings } from './settings.ts';

export interface OperatorOptions {
  readonly settings: RunSettings;
  /** The default account's key, when it is not in a file. */
  readonly apiKey: string | undefined;
  readonly log: Log;
  /** What to warn of in the log, once it is known that the settings can be used. */
  readonly warnings?: readonly string[];
  /** Default the system's. */
  readonly runtime?: Runtime;
  /** What is looked at once, beside everything else. Never rejects. */
  readonly look?: (connection: KubeConnection, signal: AbortSignal) => Promise<void>;
}

/**
 * Runs the operator until `signal` aborts; then finishes and records what is under way. Throws UsageError for settings
 * that cannot be used, and LeadershipLostError when another replica took over.
 */
export async function runOperator(options: OperatorOptions, signal: AbortSignal): Promise<void> {
  const { settings, log, warnings = [], runtime = systemRuntime, look } = options;
  const credential = await credentialOf({ keyFile: settings.apiKeyFile, variable: options.apiKey }, runtime);
  await using stack = new AsyncDisposableStack();
  const now = () => runtime.monotonic.now();
  const metrics = createMetrics({ version, ofProcess: settings.metricsAddr !== undefined, now });
  const server = stack.adopt(await connectTo(settings, log, runtime), (open) => open.close());
  const connection = observed(server, metrics.kube, now);
  const reader = new KubeClient(connection, runtime);
  const { shards } = settings;
  const ownNamespace = settings.leaderElectNamespace ?? connection.namespace;
  const lease = settings.leaderElect ? leaseOf(connection, ownNamespace, log, runtime) : undefined;
  const leadership = new Leadership({ shards, lease });
  const guard = () => leadership.check();
  const client = new KubeClient(connection.withGuard(guard), runtime);
  const events = new EventRecorder({ ...runtime, client, instance: runtime.hostname, log });
  // Known before anything is written, and not before anything is watched.
  const name = new InstallationName(settings.installation, {
    ...runtime,
    client: reader,
    namespace: ownNamespace,
    log,
  });
  const { takeOver } = settings;
  const installation = new Installation({ name: name.get, plainName: name.plain, takeOver, now });
  const namespaces = settings.watchNamespaces;
  const referents = new Referents({ ...runtime, reader, log, namespaces });
  stack.defer(() => referents.close());
  const shared = {
    ...runtime,
    referents,
    reader,
    client,
    namespaces,
    events,
    log,
    concurrency: settings.concurrency,
    resyncIntervalMs: settings.resyncInterval,
    createSettleMs: settings.createSettle,
    installation,
    census: new Census(),
    metrics,
  };
  const family = { shared, settings, guard };
  const mirrorNamespace = settings.mirrorNamespace ?? connection.namespace;
  const cloud = new CloudFamily({
    ...family,
    kinds: cloudKinds,
    credential,
    mirrorNamespace,
    useStore: (shard) =>
      new BudgetLease({ ...runtime, client, namespace: ownNamespace, scope: scopeOf(settings), shard, shards }),
    instrument: (account, isHeld) => instrument(metrics.account(account, isHeld), metrics),
  });
  stack.defer(() => cloud.close());
  const agents = new AgentFamily({ ...family, kinds: agentKinds });
  stack.defer(() => agents.close());
  await serveTelemetry(stack, { settings, metrics, cloud, agents, log });
  for (const warning of warnings) log.warn(warning);
  watch(stack, (watching) =>
    Promise.all([
      ...[cloud, agents].flatMap((each) => [each.watch(watching), each.run(watching)]),
      look?.(server, watching),
    ]),
  );
  for (let shard = 0; shard < shards; shard += 1) metrics.holds(shard, false);
  log.info('started', { version, server: connection.server, apiURL: settings.apiUrl });
  await leadership.run(signal, async (shard, term) => {
    // Told to stop before it was known: nothing may be written without it.
    if (await name.find(term)) {
      // Not before: until then nobody acts, and who waits for long is not to pass for somebody who does.
      metrics.holds(shard, true);
      await Promise.all([cloud.hold(shard, term), agents.hold(shard, term)]);
    }
    await events.flush();
    metrics.holds(shard, false);
  });
  log.info('stopped');
}

/** What this operator serves; undefined for everything. */
function scopeOf({ watchNamespaces }: RunSettings): string | undefined {
  return watchNamespaces.length === 0 ? undefined : JSON.stringify([watchNamespaces.toSorted(), '']);
}

function instrument({ onRequest, show: watchBudget }: ReturnType<Metrics['account']>, metrics: Metrics) {
  return {
    onRequest: (report: Parameters<Metrics['cloudRequest']>[0]) => {
      metrics.cloudRequest(report);
      onRequest(report);
    },
    watchBudget,
  };
}

function leaseOf(connection: KubeConnection, namespace: string, log: Log, runtime: Runtime) {
  // Calls that hang, as behind a slow admission webhook, must not cost the leadership.
  const client = new KubeClient(connection.apart(), runtime);
  const identity = `${runtime.hostname}_${runtime.uuid()}`;
  return { ...runtime, client, namespace, name: 'edge-operator', identity, log };
}

/** Informers run on every replica, so that who takes a shard over begins with warm caches. */
function watch(stack: AsyncDisposableStack, run: (watching: AbortSignal) => Promise<unknown>): void {
  const watching = new AbortController();
  const running = run(watching.signal);
  stack.defer(async () => {
    watching.abort();
    await running;
  });
}

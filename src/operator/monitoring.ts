import type { Address } from '../common/listen.ts';
import type { Log } from '../common/log.ts';
import { UsageError } from '../common/usage.ts';
import type { AgentFamily } from './kinds/agents/family.ts';
import type { CloudFamily } from './kinds/cloud/family.ts';
import { healthRoutes, metricsRoute, type Routes, startTelemetryServer } from './metrics/http.ts';
import type { Metrics } from './metrics/metrics.ts';
import { readinessOf, unready } from './readiness.ts';
import type { RunSettings } from './settings.ts';

type Mirrors = CloudFamily['mirrors'];
type Running = ReturnType<AgentFamily['running']>[number];

/** Of work, waiting not counted: each request ends within seconds, so that what takes so long hangs. */
const stuckMs = 30 * 60_000;

/** Serves metrics and health until the stack is disposed of. */
export async function serveTelemetry(
  stack: AsyncDisposableStack,
  options: {
    readonly settings: RunSettings;
    readonly metrics: Metrics;
    readonly cloud: CloudFamily;
    readonly agents: AgentFamily;
    readonly log: Log;
  },
): Promise<void> {
  const { settings, metrics, cloud, agents, log } = options;
  const kinds = [...cloud.kinds, ...agents.kinds];
  metrics.poll('resources', () => kinds.flatMap(readinessOf));
  // Of each kind, also while it has none.
  metrics.poll('watches', () => kinds.map(({ type }) => ({ labels: { resource: type.plural }, value: 0 })));
  const refused = () => kinds.flatMap(({ resources }) => resources.refused);
  metrics.poll('refusedKinds', () => [
    ...settings.watchNamespaces.map((watched) => ({ labels: { watched }, value: 0 })),
    ...refused().map((watched) => ({ labels: { watched }, value: 1 })),
  ]);
  showMirrors(metrics, cloud.mirrors);
  showTunnels(metrics, agents);
  const serve = async (name: string, address: Address | undefined, routes: Routes) => {
    if (address === undefined) return () => {};
    const server = await startTelemetryServer({ address, routes }).catch((cause: Error) => {
      throw new UsageError(`--${name}-addr: ${cause.message}`, { cause });
    });
    stack.defer(() => server.close());
    return () => log.info(`serving ${name}`, { url: server.url });
  };
  const tellOfMetrics = await serve(
    'metrics',
    settings.metricsAddr,
    metricsRoute(() => metrics.scrape()),
  );
  const stuck = () => kinds.filter((kind) => kind.controller.oldestReconcileMs() > stuckMs).map((kind) => kind.kind);
  const healthy = () => (stuck().length === 0 ? undefined : `makes no progress: ${stuck().join(', ')}`);
  const ready = () => unready(kinds);
  metrics.poll('ready', () => [{ labels: {}, value: ready() === undefined ? 1 : 0 }]);
  const remark = () => {
    const namespaces = [...new Set(refused())];
    return namespaces.length === 0 ? undefined : `may not be read: ${namespaces.join(', ')}`;
  };
  const tellOfHealth = await serve('health', settings.healthAddr, healthRoutes({ healthy, ready, remark }));
  // Not before both are there: an address that is taken is told of alone.
  tellOfMetrics();
  tellOfHealth();
}

function showMirrors(metrics: Metrics, mirrors: Mirrors): void {
  const mirrored = (value: (status: ReturnType<Mirrors['statuses']>[number]) => number) => () =>
    mirrors.statuses().map((status) => ({ labels: { account: status.account }, value: value(status) }));
  metrics.poll(
    'mirroredEndpoints',
    mirrored(({ endpoints }) => endpoints),
  );
  metrics.poll(
    'mirrorPending',
    mirrored(({ pending }) => pending),
  );
  metrics.poll(
    'mirrorSweptAt',
    mirrored(({ sweptAt = 0 }) => sweptAt / 1_000),
  );
  metrics.poll(
    'mirrorInterval',
    mirrored(({ intervalMs }) => intervalMs / 1_000),
  );
}

function showTunnels(metrics: Metrics, agents: AgentFamily): void {
  const running = (value: (metrics: Running['tunnel']['metrics']) => number) => () =>
    agents.running().map(({ agent, tunnel }) => ({
      labels: { agent, tunnel: tunnel.name },
      // A counter below 0 would spoil the scrape.
      value: Math.max(0, value(tunnel.metrics)),
    }));
  metrics.poll(
    'tunnelConnections',
    running(({ conns }) => conns.count),
  );
  metrics.poll(
    'tunnelOpenConnections',
    running(({ conns }) => conns.gauge),
  );
  metrics.poll(
    'tunnelRequests',
    running(({ http }) => http.count),
  );
}

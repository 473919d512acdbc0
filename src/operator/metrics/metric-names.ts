/*
 * Every metric of the operator's own, in one place; docs/metrics.md is kept in step by a test. Labels take their values
 * from small fixed sets, but for `account`, `agent` and `tunnel`, which are bounded: see polled-metrics.ts.
 */

export type MetricType = 'counter' | 'gauge' | 'histogram';

export interface MetricDefinition<Label extends string = string> {
  readonly type: MetricType;
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
  /** What becomes of the values that are shown as one, under the label `other`; default their sum. */
  readonly others?: 'sum' | 'max' | 'min';
}

/** As in controller-runtime, so that its dashboards and alerts work here. */
export const reconcileMetrics = {
  total: counter('controller_runtime_reconcile_total', 'Reconciliations.', 'controller', 'result'),
  errors: counter('controller_runtime_reconcile_errors_total', 'Reconciliations that failed.', 'controller'),
  seconds: histogram('controller_runtime_reconcile_time_seconds', 'Time per reconciliation.', 'controller'),
  activeWorkers: gauge('controller_runtime_active_workers', 'Workers that are reconciling.', 'controller'),
  maxConcurrent: gauge('controller_runtime_max_concurrent_reconciles', 'Workers.', 'controller'),
} as const;

/** As in controller-runtime. */
export const queueMetrics = {
  depth: gauge('workqueue_depth', 'Keys that wait to be reconciled.', 'name', 'controller'),
  adds: counter('workqueue_adds_total', 'Keys added.', 'name', 'controller'),
  retries: counter('workqueue_retries_total', 'Keys added again after a failure.', 'name', 'controller'),
  waitSeconds: histogram('workqueue_queue_duration_seconds', 'Time a key waits.', 'name', 'controller'),
  workSeconds: histogram('workqueue_work_duration_seconds', 'Time a key is worked on.', 'name', 'controller'),
  unfinished: gauge('workqueue_unfinished_work_seconds', 'Work in progress, summed.', 'name', 'controller'),
  longest: gauge('workqueue_longest_running_processor_seconds', 'Longest work in progress.', 'name', 'controller'),
} as const;

/** Of the API server. */
export const kubeMetrics = {
  requests: counter(
    'edge_operator_kubernetes_requests_total',
    'Requests to the Kubernetes API.',
    'verb',
    'resource',
    'code',
  ),
  requestSeconds: histogram(
    'edge_operator_kubernetes_request_seconds',
    'Time until the answer; of a watch, until it is open.',
    'verb',
  ),
} as const;

export const operatorMetrics = {
  requests: counter(
    'edge_operator_cloud_requests_total',
    'Requests to the Cloud Management API.',
    'operation',
    'code',
    'outcome',
  ),
  requestSeconds: histogram(
    'edge_operator_cloud_request_seconds',
    'Time per request, the wait not counted.',
    'operation',
  ),
  waitSeconds: histogram('edge_operator_cloud_limiter_wait_seconds', 'Wait for the rate limit.', 'priority'),
  drift: counter('edge_operator_drift_corrected_total', 'Drift corrected.', 'kind'),
  leader: gauge('edge_operator_leader', '1 while this replica leads in any shard.'),
  shardHeld: gauge('edge_operator_shard_held', '1 while this replica leads in the shard.', 'shard'),
  build: gauge('edge_operator_build_info', 'Always 1.', 'version', 'node_version'),
} as const;

/** Metrics whose values are asked for at each scrape. */
export const polledMetrics = {
  ready: gauge('edge_operator_ready', '1 while /readyz says so.'),
  memoryLimit: gauge('edge_operator_memory_limit_bytes', 'What the process may use; 0 without a limit.'),
  watches: gauge('edge_operator_kubernetes_watches', 'Watches that are open.', 'resource'),
  watchSilence: gauge(
    'edge_operator_kubernetes_watch_silence_seconds',
    'Longest time for which an open watch has told nothing.',
    'resource',
  ),
  accountState: {
    ...gauge(
      'edge_operator_cloud_account_state',
      '1 for the state that the last answer (or its absence) shows the account in.',
      'account',
      'state',
    ),
    others: 'max',
  },
  rateLimited: counter('edge_operator_cloud_rate_limited_total', 'Requests answered with 429.', 'account'),
  rateLimitUsed: gauge('edge_operator_cloud_rate_limit_used_requests', 'Budget of the last minute used.', 'account'),
  rateLimit: gauge('edge_operator_cloud_rate_limit_requests', 'Budget of a minute.', 'account'),
  rateLimitPaused: {
    ...gauge('edge_operator_cloud_rate_limit_paused', '1 while a 429 is waited out.', 'account'),
    others: 'max',
  },
  rateLimitWaiting: gauge(
    'edge_operator_cloud_rate_limit_waiting_requests',
    'Requests that wait.',
    'account',
    'priority',
  ),
  resources: gauge(
    'edge_operator_resources',
    'Resources by the status and reason of their Ready condition.',
    'kind',
    'ready',
    'reason',
  ),
  refusedKinds: gauge(
    'edge_operator_namespace_refused_kinds',
    'Kinds that may not be read in a namespace that is to be watched.',
    'watched',
  ),
  mirroredEndpoints: gauge('edge_operator_mirrored_endpoints', 'Endpoints mirrored into ConfigMaps.', 'account'),
  mirrorPending: gauge('edge_operator_mirror_pending_configmaps', 'ConfigMaps to be written or deleted.', 'account'),
  mirrorSweptAt: {
    ...gauge(
      'edge_operator_mirror_last_sweep_timestamp_seconds',
      'Start of the last sweep that finished whole; 0 before the first.',
      'account',
    ),
    others: 'min',
  },
  mirrorInterval: {
    ...gauge('edge_operator_mirror_interval_seconds', 'Time within which changes are shown.', 'account'),
    others: 'max',
  },
  tunnelConnections: counter('edge_operator_tunnel_connections_total', 'Connections.', 'agent', 'tunnel'),
  tunnelOpenConnections: gauge('edge_operator_tunnel_open_connections', 'Connections open.', 'agent', 'tunnel'),
  tunnelRequests: counter('edge_operator_tunnel_http_requests_total', 'HTTP requests.', 'agent', 'tunnel'),
} as const;

export const metricDefinitions: readonly MetricDefinition[] = [
  reconcileMetrics,
  queueMetrics,
  kubeMetrics,
  operatorMetrics,
  polledMetrics,
].flatMap((group): readonly MetricDefinition[] => Object.values(group));

/** A definition as prom-client takes it. */
export function labelled<Label extends string>({ name, help, labelNames }: MetricDefinition<Label>) {
  return { name, help, labelNames: [...labelNames] };
}

function counter<const Labels extends readonly string[]>(name: string, help: string, ...labelNames: Labels) {
  return { type: 'counter', name, help, labelNames } as const;
}

function gauge<const Labels extends readonly string[]>(name: string, help: string, ...labelNames: Labels) {
  return { type: 'gauge', name, help, labelNames } as const;
}

function histogram<const Labels extends readonly string[]>(name: string, help: string, ...labelNames: Labels) {
  return { type: 'histogram', name, help, labelNames } as const;
}

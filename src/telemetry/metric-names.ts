/* Every metric of the operator's own, in one place. Labels take their values from small fixed sets unless noted. */

/** As in controller-runtime, so that its dashboards and alerts work here. */
export const reconcileMetrics = {
  total: define('controller_runtime_reconcile_total', 'Reconciliations.', 'controller', 'result'),
  errors: define('controller_runtime_reconcile_errors_total', 'Reconciliations that failed.', 'controller'),
  seconds: define('controller_runtime_reconcile_time_seconds', 'Time per reconciliation.', 'controller'),
  activeWorkers: define('controller_runtime_active_workers', 'Workers that are reconciling.', 'controller'),
  maxConcurrent: define('controller_runtime_max_concurrent_reconciles', 'Workers.', 'controller'),
} as const;

/** As in controller-runtime. */
export const queueMetrics = {
  depth: define('workqueue_depth', 'Keys that wait to be reconciled.', 'name', 'controller'),
  adds: define('workqueue_adds_total', 'Keys added.', 'name', 'controller'),
  retries: define('workqueue_retries_total', 'Keys added again after a failure.', 'name', 'controller'),
  waitSeconds: define('workqueue_queue_duration_seconds', 'Time a key waits.', 'name', 'controller'),
  workSeconds: define('workqueue_work_duration_seconds', 'Time a key is worked on.', 'name', 'controller'),
  unfinished: define('workqueue_unfinished_work_seconds', 'Work in progress, summed.', 'name', 'controller'),
  longest: define('workqueue_longest_running_processor_seconds', 'Longest work in progress.', 'name', 'controller'),
} as const;

export const operatorMetrics = {
  requests: define(
    'edge_operator_cloud_requests_total',
    'Requests to the Cloud Management API.',
    'operation',
    'code',
    'outcome',
  ),
  requestSeconds: define('edge_operator_cloud_request_seconds', 'Time per request, the wait not counted.', 'operation'),
  waitSeconds: define('edge_operator_cloud_limiter_wait_seconds', 'Wait for the rate limit.', 'priority'),
  drift: define('edge_operator_drift_corrected_total', 'Drift corrected.', 'kind'),
  leader: define('edge_operator_leader', '1 while this replica is the leader.'),
  build: define('edge_operator_build_info', 'Always 1.', 'version', 'node_version'),
} as const;

/** Gauges whose values are asked for at each scrape. */
export const polledGauges = {
  rateLimitUsed: define('edge_operator_cloud_rate_limit_used_requests', 'Budget of the last minute used.', 'account'),
  rateLimit: define('edge_operator_cloud_rate_limit_requests', 'Budget of a minute.', 'account'),
  rateLimitPaused: define('edge_operator_cloud_rate_limit_paused', '1 while a 429 is waited out.', 'account'),
  rateLimitWaiting: define(
    'edge_operator_cloud_rate_limit_waiting_requests',
    'Requests that wait.',
    'account',
    'priority',
  ),
  resources: define(
    'edge_operator_resources',
    'Resources by the status and reason of their Ready condition.',
    'kind',
    'ready',
    'reason',
  ),
  mirroredEndpoints: define('edge_operator_mirrored_endpoints', 'Endpoints mirrored into ConfigMaps.', 'account'),
  tunnelConnections: define('edge_operator_tunnel_connections', 'Connections so far.', 'agent', 'tunnel'),
  tunnelOpenConnections: define('edge_operator_tunnel_open_connections', 'Connections open.', 'agent', 'tunnel'),
  tunnelRequests: define('edge_operator_tunnel_http_requests', 'HTTP requests so far.', 'agent', 'tunnel'),
} as const;

/** A definition as prom-client takes it. */
export function labelled<Label extends string>(definition: {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
}): { name: string; help: string; labelNames: Label[] } {
  return { ...definition, labelNames: [...definition.labelNames] };
}

function define<const Labels extends readonly string[]>(name: string, help: string, ...labelNames: Labels) {
  return { name, help, labelNames };
}

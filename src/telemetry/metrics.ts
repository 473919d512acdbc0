import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { QueueHooks, QueueState, ReconcileHooks } from './controller-metrics.ts';
import { createQueueHooks, createReconcileHooks } from './controller-metrics.ts';
import { labelled, operatorMetrics } from './metric-names.ts';
import type { Poll } from './polled-gauges.ts';
import { createPolledGauges } from './polled-gauges.ts';

/** One request to the cloud, as its client reports it. */
export interface RequestSample {
  readonly operation: string;
  readonly status: number | undefined;
  readonly outcome: string;
  readonly ms: number;
  readonly waitedMs: number;
  readonly priority: string;
}

/** The state of one account's limiter. */
export interface BudgetState {
  readonly used: number;
  readonly limit: number;
  readonly waiting: Readonly<Record<string, number>>;
  readonly pausedUntilMs?: number;
}

export interface Metrics {
  /** For one controller and its number of workers; call it once. */
  reconciles(controller: string, workers?: number): ReconcileHooks;
  /** For the queue of one controller; call it once. Its state, where given, is not asked for before a scrape. */
  queue(controller: string, state?: () => QueueState): QueueHooks;
  cloudRequest(sample: RequestSample): void;
  driftCorrected(kind: string): void;
  leader(leading: boolean): void;
  /** The rate limit of an account until the result is called. */
  budget(account: string, state: () => BudgetState): () => void;
  /** Any other gauge that is read at scrape time, such as `resources`. */
  poll: Poll;
  /** The Prometheus text format. */
  scrape(): Promise<{ readonly contentType: string; readonly body: string }>;
}

export interface MetricsOptions {
  readonly version: string;
}

const requestBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const waitBuckets = [0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 1800];

/** The operator's metrics and the process's, in a registry of their own. */
export function createMetrics({ version }: MetricsOptions): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({ ...labelled(operatorMetrics.requests), registers });
  const seconds = new Histogram({ ...labelled(operatorMetrics.requestSeconds), buckets: requestBuckets, registers });
  const waits = new Histogram({ ...labelled(operatorMetrics.waitSeconds), buckets: waitBuckets, registers });
  const drift = new Counter({ ...labelled(operatorMetrics.drift), registers });
  const leader = new Gauge({ ...labelled(operatorMetrics.leader), registers });
  const build = new Gauge({ ...labelled(operatorMetrics.build), registers });
  build.set({ version, node_version: process.version }, 1);
  const poll = createPolledGauges(registry);
  return {
    reconciles: createReconcileHooks(registry),
    queue: createQueueHooks(registry),
    cloudRequest: ({ operation, status, outcome, ms, waitedMs, priority }) => {
      requests.inc({ operation, code: codeClass(status), outcome });
      seconds.observe({ operation }, ms / 1000);
      waits.observe({ priority }, waitedMs / 1000);
    },
    driftCorrected: (kind) => drift.inc({ kind }),
    leader: (leading) => leader.set(leading ? 1 : 0),
    budget: (account, state) => pollBudget(poll, account, state),
    poll,
    scrape: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}

function pollBudget(poll: Poll, account: string, state: () => BudgetState): () => void {
  const labels = { account };
  const stops = [
    poll('rateLimitUsed', () => [{ labels, value: state().used }]),
    poll('rateLimit', () => [{ labels, value: state().limit }]),
    poll('rateLimitPaused', () => [{ labels, value: state().pausedUntilMs === undefined ? 0 : 1 }]),
    poll('rateLimitWaiting', () =>
      Object.entries(state().waiting).map(([priority, value]) => ({ labels: { account, priority }, value })),
    ),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

function codeClass(status: number | undefined): string {
  return status === undefined ? 'none' : `${Math.floor(status / 100)}xx`;
}

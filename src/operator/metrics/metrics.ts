import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type AccountMetrics, accountMetrics, type RequestSample } from './account-metrics.ts';
import type { QueueMetrics, QueueState, ReconcileHooks } from './controller-metrics.ts';
import { createQueueHooks, createReconcileHooks } from './controller-metrics.ts';
import { createKubeHooks, type KubeHooks } from './kube-metrics.ts';
import { labelled, operatorMetrics } from './metric-names.ts';
import { createPolledMetrics, type Poll } from './polled-metrics.ts';

export interface Metrics {
  /** For one controller and its number of workers; call it once. */
  reconciles(controller: string, workers?: number): ReconcileHooks;
  /** For the queue of one controller; call it once. Its state, where given, is not asked for before a scrape. */
  queue(controller: string, state?: () => QueueState): QueueMetrics;
  /** For the connection to the API server. */
  readonly kube: KubeHooks;
  cloudRequest(sample: RequestSample): void;
  /** For one kind; call it once, and the result for each correction. */
  drift(kind: string): () => void;
  /** Whether this replica works on a shard. */
  holds(shard: number, held: boolean): void;
  /** For one account's client, beside `cloudRequest`. */
  account(account: string, isHeld?: () => boolean): AccountMetrics;
  /** Any other metric that is read at scrape time, such as `resources`. */
  poll: Poll;
  /** The Prometheus text format. */
  scrape(): Promise<{ readonly contentType: string; readonly body: string }>;
}

export interface MetricsOptions {
  readonly version: string;
  /** Default true. Their observers watch the process to its end, so they are for whoever serves them. */
  readonly ofProcess?: boolean;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
}

const requestBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const waitBuckets = [0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 1800];

/** A timer of this period measures it: at 10 ms, the default, that is most of what an idle operator does. */
const lagPrecisionMs = 100;

/** The operator's metrics and the process's, in a registry of their own. */
export function createMetrics({ version, ofProcess = true, now }: MetricsOptions): Metrics {
  const registry = new Registry();
  const registers = [registry];
  if (ofProcess) collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: lagPrecisionMs });
  const requests = new Counter({ ...labelled(operatorMetrics.requests), registers });
  const seconds = new Histogram({ ...labelled(operatorMetrics.requestSeconds), buckets: requestBuckets, registers });
  const waits = new Histogram({ ...labelled(operatorMetrics.waitSeconds), buckets: waitBuckets, registers });
  const drift = new Counter({ ...labelled(operatorMetrics.drift), registers });
  const leader = new Gauge({ ...labelled(operatorMetrics.leader), registers });
  const held = new Gauge({ ...labelled(operatorMetrics.shardHeld), registers });
  const shards = new Set<number>();
  const build = new Gauge({ ...labelled(operatorMetrics.build), registers });
  build.set({ version, node_version: process.version }, 1);
  const poll = createPolledMetrics(registry);
  if (ofProcess) poll('memoryLimit', memoryLimit);
  return {
    reconciles: createReconcileHooks(registry),
    queue: createQueueHooks(registry),
    kube: createKubeHooks(registry, poll, now),
    cloudRequest: ({ operation, status, outcome, ms, waitedMs, priority }) => {
      requests.inc({ operation, code: codeClass(status), outcome });
      seconds.observe({ operation }, ms / 1000);
      waits.observe({ priority }, waitedMs / 1000);
    },
    drift: (kind) => {
      drift.inc({ kind }, 0);
      return () => drift.inc({ kind });
    },
    holds: (shard, isHeld) => {
      held.set({ shard: String(shard) }, isHeld ? 1 : 0);
      if (isHeld) shards.add(shard);
      else shards.delete(shard);
      leader.set(shards.size > 0 ? 1 : 0);
    },
    account: (account, isHeld) => accountMetrics(poll, account, isHeld),
    poll,
    scrape: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}

/** Of the container; where none is set the system says 0, or more than any machine has. */
function memoryLimit() {
  const limit = process.constrainedMemory();
  return [{ labels: {}, value: limit < 2 ** 50 ? limit : 0 }];
}

function codeClass(status: number | undefined): string {
  return status === undefined ? 'none' : `${Math.floor(status / 100)}xx`;
}

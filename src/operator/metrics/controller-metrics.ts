import type { Registry } from 'prom-client';
import { Counter, Gauge, Histogram } from 'prom-client';
import { labelled, queueMetrics, reconcileMetrics } from './metric-names.ts';

export type ReconcileResultLabel = 'success' | 'error' | 'requeue' | 'requeue_after';

/** What a controller tells of its reconciles. */
export interface ReconcileHooks {
  onReconcile(result: ReconcileResultLabel, seconds: number): void;
  onActiveWorkers(count: number): void;
}

/** What a work queue tells; times in milliseconds. */
export interface QueueMetrics {
  onAdd(): void;
  onStart(waitedMs: number): void;
  onDone(workedMs: number): void;
  onRetry(): void;
}

/** What a work queue is asked at each scrape. */
export interface QueueState {
  depth(): number;
  unfinishedMs(): number;
  longestRunningMs(): number;
}

// Of controller-runtime, less what no JavaScript clock shows. Its work queues step from 10 to 100 to 1000 seconds: what
// an alert compares with 300 needs steps around it.
const reconcileBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const queueBuckets = [0.00001, 0.0001, 0.001, 0.01, 0.1, 1, 10, 30, 60, 120, 180, 240, 300, 450, 600, 1000];

export function createReconcileHooks(registry: Registry): (controller: string, workers?: number) => ReconcileHooks {
  const registers = [registry];
  const total = new Counter({ ...labelled(reconcileMetrics.total), registers });
  const errors = new Counter({ ...labelled(reconcileMetrics.errors), registers });
  const time = new Histogram({ ...labelled(reconcileMetrics.seconds), buckets: reconcileBuckets, registers });
  const active = new Gauge({ ...labelled(reconcileMetrics.activeWorkers), registers });
  const most = new Gauge({ ...labelled(reconcileMetrics.maxConcurrent), registers });
  return (controller, workers) => {
    // Present from the start: a rate over a series that appears with its first error misses that error.
    for (const result of ['success', 'error', 'requeue', 'requeue_after']) total.inc({ controller, result }, 0);
    errors.inc({ controller }, 0);
    active.set({ controller }, 0);
    if (workers !== undefined) most.set({ controller }, workers);
    return {
      onActiveWorkers: (count) => active.set({ controller }, count),
      onReconcile: (result, seconds) => {
        time.observe({ controller }, seconds);
        total.inc({ controller, result });
        if (result === 'error') errors.inc({ controller });
      },
    };
  };
}

export function createQueueHooks(registry: Registry): (controller: string, state?: () => QueueState) => QueueMetrics {
  const registers = [registry];
  const queues = new Map<string, () => QueueState>();
  const read = (gauge: Gauge<'name' | 'controller'>, value: (state: QueueState) => number) => {
    for (const [name, state] of queues) gauge.set({ name, controller: name }, value(state()));
  };
  const adds = new Counter({ ...labelled(queueMetrics.adds), registers });
  const retries = new Counter({ ...labelled(queueMetrics.retries), registers });
  const waitSeconds = new Histogram({ ...labelled(queueMetrics.waitSeconds), buckets: queueBuckets, registers });
  const workSeconds = new Histogram({ ...labelled(queueMetrics.workSeconds), buckets: queueBuckets, registers });
  new Gauge({
    ...labelled(queueMetrics.depth),
    registers,
    collect() {
      read(this, (state) => state.depth());
    },
  });
  new Gauge({
    ...labelled(queueMetrics.unfinished),
    registers,
    collect() {
      read(this, (state) => state.unfinishedMs() / 1000);
    },
  });
  new Gauge({
    ...labelled(queueMetrics.longest),
    registers,
    collect() {
      read(this, (state) => state.longestRunningMs() / 1000);
    },
  });
  return (controller, state) => {
    const labels = { name: controller, controller };
    if (state !== undefined) queues.set(controller, state);
    adds.inc(labels, 0);
    retries.inc(labels, 0);
    return {
      onAdd: () => adds.inc(labels),
      onRetry: () => retries.inc(labels),
      onStart: (waitedMs) => waitSeconds.observe(labels, waitedMs / 1000),
      onDone: (workedMs) => workSeconds.observe(labels, workedMs / 1000),
    };
  };
}

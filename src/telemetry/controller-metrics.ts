import type { Registry } from 'prom-client';
import { Counter, Gauge, Histogram } from 'prom-client';
import { labelled, queueMetrics, reconcileMetrics } from './metric-names.ts';

export type ReconcileResult = 'success' | 'error' | 'requeue' | 'requeue_after';

/** What a controller tells of its reconciles. */
export interface ReconcileHooks {
  workers(count: number): void;
  /** A reconcile begins; call the result once when it ends. */
  started(): (result: ReconcileResult) => void;
}

/** What a work queue tells. */
export interface QueueHooks {
  /** Keys waiting now. */
  depth(count: number): void;
  added(): void;
  retried(): void;
  /** A key is handed out after so many milliseconds; call the result once when it is done. */
  taken(waitedMs: number): () => void;
}

// Of controller-runtime: reconciles, and of its work queue: 10^-9 to 10^3 seconds, less what no JavaScript clock shows.
const reconcileBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const queueBuckets = [0.00001, 0.0001, 0.001, 0.01, 0.1, 1, 10, 100, 1000];

export function createReconcileHooks(registry: Registry, now: () => number): (controller: string) => ReconcileHooks {
  const registers = [registry];
  const total = new Counter({ ...labelled(reconcileMetrics.total), registers });
  const errors = new Counter({ ...labelled(reconcileMetrics.errors), registers });
  const seconds = new Histogram({ ...labelled(reconcileMetrics.seconds), buckets: reconcileBuckets, registers });
  const active = new Gauge({ ...labelled(reconcileMetrics.activeWorkers), registers });
  const workers = new Gauge({ ...labelled(reconcileMetrics.maxConcurrent), registers });
  return (controller) => {
    // Present from the start: a rate over a series that appears with its first error misses that error.
    for (const result of ['success', 'error', 'requeue', 'requeue_after']) total.inc({ controller, result }, 0);
    errors.inc({ controller }, 0);
    active.set({ controller }, 0);
    return {
      workers: (count) => workers.set({ controller }, count),
      started: () => {
        const since = now();
        active.inc({ controller });
        return (result) => {
          active.dec({ controller });
          seconds.observe({ controller }, (now() - since) / 1000);
          total.inc({ controller, result });
          if (result === 'error') errors.inc({ controller });
        };
      },
    };
  };
}

export function createQueueHooks(registry: Registry, now: () => number): (controller: string) => QueueHooks {
  const registers = [registry];
  const running = new Map<string, Set<{ readonly since: number }>>();
  const ages = (controller: string) => [...(running.get(controller) ?? [])].map(({ since }) => (now() - since) / 1000);
  const depth = new Gauge({ ...labelled(queueMetrics.depth), registers });
  const adds = new Counter({ ...labelled(queueMetrics.adds), registers });
  const retries = new Counter({ ...labelled(queueMetrics.retries), registers });
  const waitSeconds = new Histogram({ ...labelled(queueMetrics.waitSeconds), buckets: queueBuckets, registers });
  const workSeconds = new Histogram({ ...labelled(queueMetrics.workSeconds), buckets: queueBuckets, registers });
  new Gauge({
    ...labelled(queueMetrics.unfinished),
    registers,
    collect() {
      for (const name of running.keys())
        this.set(
          { name, controller: name },
          ages(name).reduce((a, b) => a + b, 0),
        );
    },
  });
  new Gauge({
    ...labelled(queueMetrics.longest),
    registers,
    collect() {
      for (const name of running.keys()) this.set({ name, controller: name }, Math.max(0, ...ages(name)));
    },
  });
  return (controller) => {
    const labels = { name: controller, controller };
    const own = new Set<{ readonly since: number }>();
    running.set(controller, own);
    depth.set(labels, 0);
    adds.inc(labels, 0);
    retries.inc(labels, 0);
    return {
      depth: (count) => depth.set(labels, count),
      added: () => adds.inc(labels),
      retried: () => retries.inc(labels),
      taken: (waitedMs) => {
        const work = { since: now() };
        own.add(work);
        waitSeconds.observe(labels, waitedMs / 1000);
        return () => {
          if (own.delete(work)) workSeconds.observe(labels, (now() - work.since) / 1000);
        };
      },
    };
  };
}

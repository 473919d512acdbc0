import type { Registry } from 'prom-client';
import { Counter, Histogram } from 'prom-client';
import { kubeMetrics, labelled } from './metric-names.ts';
import type { Poll } from './polled-metrics.ts';

/** One request to the API server. */
export interface KubeRequestSample {
  readonly verb: string;
  readonly resource: string;
  /** Undefined when there was no answer. */
  readonly status: number | undefined;
  readonly ms: number;
}

/** What the connection to the API server tells. */
export interface KubeHooks {
  onRequest(sample: KubeRequestSample): void;
  onWatch(resource: string): { told(): void; closed(): void };
}

interface Watch {
  readonly resource: string;
  toldAt: number;
}

const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** @param now milliseconds, monotonic */
export function createKubeHooks(registry: Registry, poll: Poll, now: () => number): KubeHooks {
  const registers = [registry];
  const requests = new Counter({ ...labelled(kubeMetrics.requests), registers });
  const seconds = new Histogram({ ...labelled(kubeMetrics.requestSeconds), buckets, registers });
  const open = new Set<Watch>();
  poll('watches', () => [...open].map(({ resource }) => ({ labels: { resource }, value: 1 })));
  poll('watchSilence', () => {
    const longest = new Map<string, number>();
    for (const { resource, toldAt } of open)
      longest.set(resource, Math.max(longest.get(resource) ?? 0, (now() - toldAt) / 1_000));
    return [...longest].map(([resource, value]) => ({ labels: { resource }, value }));
  });
  return {
    onRequest: ({ verb, resource, status, ms }) => {
      requests.inc({ verb, resource, code: status ?? 'none' });
      seconds.observe({ verb }, ms / 1_000);
    },
    onWatch: (resource) => {
      const watch = { resource, toldAt: now() };
      open.add(watch);
      return { told: () => (watch.toldAt = now()), closed: () => open.delete(watch) };
    },
  };
}

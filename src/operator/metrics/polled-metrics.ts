import type { Registry } from 'prom-client';
import { Counter, Gauge } from 'prom-client';
import { labelled, type MetricDefinition, polledMetrics } from './metric-names.ts';

export type PolledMetric = keyof typeof polledMetrics;

export interface Sample<Label extends string = string> {
  readonly labels: Readonly<Record<Label, string>>;
  readonly value: number;
}

/** Asked at every scrape. Samples with the same labels are added up. */
export type Source<Name extends PolledMetric> = () => Iterable<
  Sample<(typeof polledMetrics)[Name]['labelNames'][number]>
>;

/** Adds a source to a metric; calling the result takes it away again. */
export type Poll = <Name extends PolledMetric>(name: Name, source: Source<Name>) => () => void;

// Users choose the names of accounts and tunnels: whatever they do, a scrape stays small.
const mostSeries = 1_000;

export function createPolledMetrics(registry: Registry): Poll {
  const sources = new Map<string, Set<() => Iterable<Sample>>>();
  for (const [key, definition] of Object.entries(polledMetrics)) {
    const own = new Set<() => Iterable<Sample>>();
    sources.set(key, own);
    register(registry, definition, () => bounded([...own].flatMap((source) => [...source()])));
  }
  return (name, source) => {
    sources.get(name)?.add(source);
    return () => sources.get(name)?.delete(source);
  };
}

function register(registry: Registry, definition: MetricDefinition, samples: () => readonly Sample[]): void {
  const Metric = definition.type === 'counter' ? Counter : Gauge;
  new Metric<string>({
    ...labelled(definition),
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, value } of samples()) this.inc(labels, value);
    },
  });
}

/** What is too much becomes one series with every label `other`. */
function bounded(samples: readonly Sample[]): readonly Sample[] {
  return samples.map((sample, index) =>
    index < mostSeries
      ? sample
      : { ...sample, labels: Object.fromEntries(Object.keys(sample.labels).map((label) => [label, 'other'])) },
  );
}

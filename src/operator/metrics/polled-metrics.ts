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

/** Labels whose values tenants choose and multiply, and how many of them a metric shows by name: whatever they do, a scrape stays small. */
const mostNamed: Readonly<Record<string, number>> = { account: 30, agent: 100, tunnel: 100 };

type Combine = NonNullable<MetricDefinition['others']>;

const combined: Readonly<Record<Combine, (one: number, other: number) => number>> = {
  sum: (one, other) => one + other,
  max: Math.max,
  min: Math.min,
};

export function createPolledMetrics(registry: Registry): Poll {
  const sources = new Map<string, Set<() => Iterable<Sample>>>();
  for (const [key, definition] of Object.entries(polledMetrics)) {
    const own = new Set<() => Iterable<Sample>>();
    sources.set(key, own);
    register(registry, definition, () => bounded(added(own), definition));
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
      // What agents say may add up to more than a number holds, which would spoil the scrape.
      for (const { labels, value } of samples()) this.inc(labels, Math.min(value, Number.MAX_VALUE));
    },
  });
}

/** One sample for each set of labels. */
function added(sources: Iterable<() => Iterable<Sample>>): readonly Sample[] {
  const samples = new Map<string, Sample>();
  for (const source of sources) for (const sample of source()) put(samples, sample, 'sum');
  return [...samples.values()];
}

/** Beyond the first ones by name, whose labels tenants choose, those labels are `other`; all else stays as it is. */
function bounded(samples: readonly Sample[], definition: MetricDefinition): readonly Sample[] {
  const { labelNames, others = 'sum' } = definition;
  const chosen = labelNames.filter((label) => label in mostNamed);
  if (chosen.length === 0) return samples;
  const most = Math.min(...chosen.map((label) => mostNamed[label] ?? 0));
  const named = new Set<string>();
  const shown = new Map<string, Sample>();
  for (const { labels, value } of samples) {
    const name = JSON.stringify(chosen.map((label) => labels[label]));
    if (named.size < most) named.add(name);
    const other = named.has(name) ? {} : Object.fromEntries(chosen.map((label) => [label, 'other']));
    put(shown, { labels: { ...labels, ...other }, value }, others);
  }
  return [...shown.values()];
}

function put(samples: Map<string, Sample>, { labels, value }: Sample, combine: Combine): void {
  const key = JSON.stringify(labels);
  const known = samples.get(key);
  samples.set(key, { labels, value: known === undefined ? value : combined[combine](known.value, value) });
}

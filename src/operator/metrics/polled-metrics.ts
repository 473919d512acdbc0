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

/** What is shown of all that there is, scrape by scrape. */
type Bound = (samples: readonly Sample[]) => readonly Sample[];

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
    const shown = bounded(definition);
    register(registry, definition, () => shown(added(own)));
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

/**
 * Beyond the first ones by name, whose labels tenants choose, those labels are `other`; all else stays as it is. Of counters
 * that is what the others have grown by so far: whoever goes, or has a name from now on, takes nothing of it away.
 */
function bounded({ labelNames, others = 'sum', type }: MetricDefinition): Bound {
  const chosen = labelNames.filter((label) => label in mostNamed);
  if (chosen.length === 0) return (samples) => samples;
  const most = Math.min(...chosen.map((label) => mostNamed[label] ?? 0));
  const nameOf = ({ labels }: Sample) => JSON.stringify(chosen.map((label) => labels[label]));
  const other = Object.fromEntries(chosen.map((label) => [label, 'other']));
  const growths = type === 'counter' ? growthsOf() : undefined;
  const grown = new Map<string, Sample>();
  return (samples) => {
    const named = new Set([...new Set(samples.map(nameOf))].slice(0, most));
    const together = growths === undefined ? new Map<string, Sample>() : grown;
    for (const sample of growths?.(samples) ?? samples) {
      if (named.has(nameOf(sample))) continue;
      put(together, { ...sample, labels: { ...sample.labels, ...other } }, others);
    }
    return [...samples.filter((sample) => named.has(nameOf(sample))), ...together.values()];
  };
}

/**
 * What each counter has grown by since it was asked for last; at first all that it has. What appears later has not grown yet, as
 * Prometheus takes a new series: it may only have been away.
 */
function growthsOf(): Bound {
  let before: ReadonlyMap<string, number> | undefined;
  return (samples) => {
    const now = new Map(samples.map(({ labels, value }) => [JSON.stringify(labels), value]));
    const growths = samples.map(({ labels, value }) => {
      const last = before === undefined ? 0 : (before.get(JSON.stringify(labels)) ?? value);
      return { labels, value: growth(last, value) };
    });
    before = now;
    return growths;
  };
}

/** One that fell began anew. Of two that are infinite there is no difference. */
function growth(last: number, value: number): number {
  if (value === last) return 0;
  return value < last ? value : value - last;
}

function put(samples: Map<string, Sample>, { labels, value }: Sample, combine: Combine): void {
  const key = JSON.stringify(labels);
  const known = samples.get(key);
  samples.set(key, { labels, value: known === undefined ? value : combined[combine](known.value, value) });
}

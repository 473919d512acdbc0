import type { Registry } from 'prom-client';
import { Gauge } from 'prom-client';
import { labelled, polledGauges } from './metric-names.ts';

export type PolledGauge = keyof typeof polledGauges;

export interface Sample<Label extends string = string> {
  readonly labels: Readonly<Record<Label, string>>;
  readonly value: number;
}

/** Asked at every scrape. Samples with the same labels are added up. */
export type Source<Name extends PolledGauge> = () => Iterable<
  Sample<(typeof polledGauges)[Name]['labelNames'][number]>
>;

/** Adds a source to a gauge; calling the result takes it away again. */
export type Poll = <Name extends PolledGauge>(name: Name, source: Source<Name>) => () => void;

// Users choose the names of accounts and tunnels: whatever they do, a scrape stays small.
const mostSeries = 1_000;

export function createPolledGauges(registry: Registry): Poll {
  const sources = new Map<string, Set<() => Iterable<Sample>>>();
  for (const [key, definition] of Object.entries(polledGauges)) {
    const own = new Set<() => Iterable<Sample>>();
    sources.set(key, own);
    const collect = (gauge: Gauge) => {
      gauge.reset();
      for (const { labels, value } of bounded([...own].flatMap((source) => [...source()]))) gauge.inc(labels, value);
    };
    new Gauge({
      ...labelled<string>(definition),
      registers: [registry],
      collect() {
        collect(this);
      },
    });
  }
  return (name, source) => {
    sources.get(name)?.add(source);
    return () => sources.get(name)?.delete(source);
  };
}

/** What is too much becomes one series with every label `other`. */
function bounded(samples: readonly Sample[]): readonly Sample[] {
  return samples.map((sample, index) =>
    index < mostSeries
      ? sample
      : { ...sample, labels: Object.fromEntries(Object.keys(sample.labels).map((label) => [label, 'other'])) },
  );
}

export interface Family {
  readonly name: string;
  readonly type: string;
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads the Prometheus text format. Throws for a line that is none of it. */
export function parseMetrics(text: string): readonly Family[] {
  const families: { name: string; type: string; samples: Sample[] }[] = [];
  for (const line of text.split('\n')) {
    const [, name = '', type = ''] = /^# TYPE (\S+) (\w+)$/.exec(line) ?? [];
    if (name !== '') families.push({ name, type, samples: [] });
    if (line === '' || line.startsWith('#')) continue;
    const sample = sampleOf(line);
    const family = families.at(-1);
    if (family === undefined || !sample.name.startsWith(family.name)) throw new Error(`a sample without TYPE: ${line}`);
    family.samples.push(sample);
  }
  return families;
}

function sampleOf(line: string): Sample {
  const [, name, labels = '', value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (name === undefined) throw new Error(`no sample: ${line}`);
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', text = '']) => [label, text]);
  return { name, labels: Object.fromEntries(pairs), value: Number(value) };
}

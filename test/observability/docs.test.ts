import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { metricDefinitions } from '../../src/operator/metrics/metric-names.ts';
import { alerts, projectDir } from './alerts.ts';

const page = (name: string) => readFileSync(join(projectDir, 'docs', name), 'utf8');

describe('docs/metrics.md', () => {
  const rows = [...page('metrics.md').matchAll(/^\| `(\w+)` \| (counter|gauge|histogram) \| (.*?) ?\| .+ \|$/gm)].map(
    ([, name, type, labels = '']) => ({ name, type, labelNames: [...labels.matchAll(/`(\w+)`/g)].map(([, l]) => l) }),
  );

  test('has a row for each metric, with its type and labels', () => {
    const defined = metricDefinitions.map(({ name, type, labelNames }) => ({
      name,
      type,
      labelNames: [...labelNames],
    }));
    const sorted = <T extends { readonly name: string | undefined }>(list: readonly T[]) =>
      [...list].sort((a, b) => ((a.name ?? '') < (b.name ?? '') ? -1 : 1));
    expect(sorted(rows)).toEqual(sorted(defined));
  });
});

describe('docs/alerts.md', () => {
  const sections = new Map(
    page('alerts.md')
      .split(/^### /m)
      .slice(1)
      .map((section): [string, string] => [section.split('\n', 1)[0] ?? '', section]),
  );

  test('has a section for each alert, in their order', () => {
    expect([...sections.keys()]).toEqual(alerts.map(({ alert }) => alert));
  });

  test.each(alerts.map((alert): [string, (typeof alerts)[number]] => [alert.alert, alert]))(
    '%s: the same severity, what it means, what to do',
    (name, { labels }) => {
      const section = sections.get(name) ?? '';
      expect(section).toMatch(new RegExp(`^\\*${labels.severity}\\*`, 'm'));
      expect(section).toMatch(/^\*\*Means\*\* .{20,}/m);
      expect(section).toMatch(/^\*\*Do\*\* .{20,}/m);
    },
  );
});

test.each(alerts.map((alert): [string, (typeof alerts)[number]] => [alert.alert, alert]))(
  '%s has severity, summary, description and runbook',
  (name, { labels, annotations }) => {
    expect(labels.severity).toMatch(/^(critical|warning)$/);
    expect(annotations.summary).toMatch(/\.$/);
    expect(annotations.description?.length).toBeGreaterThan(20);
    expect(annotations.runbook_url).toBe(
      `https://github.com/edge-operator/edge-operator/blob/main/docs/alerts.md#${name.toLowerCase()}`,
    );
  },
);

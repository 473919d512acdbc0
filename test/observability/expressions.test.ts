import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { reasons } from '../../src/operator/reconcile/status/reasons.ts';
import { type Matcher, matches, parseExpression } from '../support/promql.ts';
import { alerts, projectDir, scope } from './alerts.ts';
import { labelValues, seriesLabels } from './known-metrics.ts';

/* Alerts and dashboard use only metrics that exist, with labels and values that exist. */

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { name: string; type: string; query: string | { query: string } }[] };
}

const dashboard: Dashboard = JSON.parse(
  readFileSync(join(projectDir, 'charts/edge-operator/files/dashboard.json'), 'utf8'),
);
const graphs = dashboard.panels.filter(({ type }) => type !== 'row');
const dashboardExpressions = graphs.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }): [string, string] => [title, expr.replaceAll('$__rate_interval', '5m')]),
);

/** Every scrape adds these. */
const targetLabels = ['namespace', 'job', 'instance'];
const variables = ['$namespace', '$job', '$account'];

let known: ReadonlyMap<string, readonly string[]>;
beforeAll(async () => {
  known = await seriesLabels();
});

function problems(expression: string): readonly string[] {
  const { selectors, grouping } = parseExpression(expression);
  const selected = selectors.flatMap(({ metric, matchers }) =>
    matchers.length === 0 && known.has(metric) ? [] : matcherProblems(metric, matchers),
  );
  const available = [...targetLabels, ...selectors.flatMap(({ metric }) => known.get(metric) ?? [])];
  return [...selected, ...grouping.filter((label) => !available.includes(label)).map((label) => `by ${label}`)];
}

function matcherProblems(metric: string, matchers: readonly Matcher[]): readonly string[] {
  const labels = known.get(metric);
  if (labels === undefined) return [`metric ${metric}`];
  return matchers.flatMap(({ label, op, value }) => {
    if (![...labels, ...targetLabels].includes(label)) return [`${metric}{${label}}`];
    if (variables.includes(value) || scope[label] === value) return [];
    const values = op.endsWith('~') ? value.split('|') : [value];
    return values.filter((one) => !(labelValues[label] ?? []).includes(one)).map((one) => `${metric}{${label}=${one}}`);
  });
}

test.each(alerts.map(({ alert, expr }): [string, string] => [alert, expr]))('%s', (_, expr) => {
  expect(problems(expr)).toEqual([]);
});

test.each(alerts.map(({ alert, expr }): [string, string] => [alert, expr]))('%s is of one release alone', (_, expr) => {
  for (const { metric, matchers } of parseExpression(expr).selectors) {
    const exact = matchers.filter(({ op }) => op === '=').map(({ label, value }) => [label, value]);
    expect([metric, Object.fromEntries(exact)]).toMatchObject([metric, scope]);
  }
});

test.each(dashboardExpressions)('panel %s: %s', (_, expr) => {
  expect(problems(expr)).toEqual([]);
});

test.each([
  ['edge_operator_no_such_metric', 'metric edge_operator_no_such_metric'],
  ['edge_operator_resources{namespase="a"}', 'edge_operator_resources{namespase}'],
  ['edge_operator_resources{reason=~"Available|Gone"}', 'edge_operator_resources{reason=Gone}'],
  ['sum by (account) (edge_operator_resources)', 'by account'],
])('%s would be found', (expr, problem) => {
  expect(problems(expr)).toEqual([problem]);
});

test('what is no PromQL would be found', () => {
  expect(() => problems('sum by (kind) (edge_operator_resources')).toThrow('no PromQL');
});

test('every reason but Available and Paused is the business of exactly one alert', () => {
  const owners = (reason: string) =>
    alerts
      .filter(({ expr }) => {
        const [first] = parseExpression(expr).selectors;
        const ofKind = first?.matchers.some(({ label }) => label === 'kind') ?? false;
        const about = first?.matchers.filter(({ label }) => label === 'reason') ?? [];
        return !ofKind && about.length > 0 && about.every((matcher) => matches(matcher, reason));
      })
      .map(({ alert }) => alert);
  // What is Available is Ready, and left out by that.
  const failing = reasons.filter((reason) => reason !== 'Available' && reason !== 'Paused');
  expect(failing.filter((reason) => owners(reason).length !== 1)).toEqual([]);
  expect(owners('Paused')).toEqual([]);
});

describe('the dashboard', () => {
  test('has a row for each subject and no panel over another', () => {
    const rows = dashboard.panels.filter(({ type }) => type === 'row').map(({ title }) => title);
    expect(rows).toEqual([
      'Health',
      'Reconcile',
      'Cloud budget',
      'Resources',
      'Endpoint mirror',
      'Agents',
      'Kubernetes API',
    ]);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(dashboard.panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
  });

  test('asks the data source that its variable names, everywhere', () => {
    const uids = graphs.flatMap((panel) => [
      panel.datasource?.uid,
      ...(panel.targets ?? []).map((t) => t.datasource.uid),
    ]);
    expect(new Set(uids)).toEqual(new Set([`\${datasource}`]));
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'namespace', 'job', 'account']);
  });

  test('takes the values of its variables from metrics that have them', () => {
    const queries = dashboard.templating.list.filter(({ type }) => type === 'query');
    for (const { query } of queries) {
      const text = typeof query === 'string' ? query : query.query;
      const [, selector = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(text) ?? [];
      expect(problems(`count by (${label}) (${selector})`)).toEqual([]);
    }
  });

  test('shows every metric of the operator', () => {
    const shown = dashboardExpressions.flatMap(([, expr]) =>
      parseExpression(expr).selectors.map(({ metric }) => metric),
    );
    const own = [...known.keys()].filter((name) => name.startsWith('edge_operator_') && !/_(sum|count)$/.test(name));
    expect(own.filter((name) => !shown.includes(name) && name !== 'edge_operator_mirror_interval_seconds')).toEqual([]);
  });
});

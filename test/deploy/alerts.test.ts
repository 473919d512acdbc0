import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { alerts, rulesFile } from '../observability/alerts.ts';
import { type AlertCase, cases, type Series, target } from './alert-cases.ts';
import { promtool, promtoolPath } from './promtool.ts';

/* The alerts, evaluated by Prometheus's own engine: each fires when it should, and not when it should not. */

const selector = (name: string, labels: Readonly<Record<string, string>>) =>
  `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}=${JSON.stringify(value)}`)
    .join(',')}}`;

function unitTest({ alert, series, minute, fires }: AlertCase): object {
  const severity = alerts.find((rule) => rule.alert === alert)?.labels.severity ?? '';
  const firing = { alertname: alert, alertstate: 'firing', severity };
  return {
    interval: '1m',
    input_series: series.map(({ metric, labels, values }: Series) => ({ series: selector(metric, labels), values })),
    promql_expr_test: [
      {
        expr: `ALERTS{alertname="${alert}",alertstate="firing"}`,
        eval_time: `${minute}m`,
        exp_samples: fires.map((labels) => ({
          labels: selector('ALERTS', { ...firing, ...target, ...labels }),
          value: 1,
        })),
      },
    ],
  };
}

async function evaluate(tests: readonly object[]): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'edge-operator-alerts-'));
  const file = join(dir, 'tests.yaml');
  writeFileSync(file, stringify({ rule_files: [rulesFile], evaluation_interval: '1m', tests }));
  try {
    return await promtool(['test', 'rules', file]);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

test('each alert has a case where it fires and one where it does not', () => {
  const named = (fires: boolean) => cases.filter((one) => one.fires.length > 0 === fires).map(({ alert }) => alert);
  const names = alerts.map(({ alert }) => alert);
  expect([...new Set(named(true))]).toEqual(names);
  expect([...new Set(named(false))]).toEqual(names);
});

// Without promtool these are shown as skipped.
const describeIf = promtoolPath === undefined ? describe.skip : describe;

describeIf('with promtool', () => {
  test('the rules are well-formed', async () => {
    expect(await promtool(['check', 'rules', rulesFile])).toContain(`SUCCESS: ${alerts.length} rules found`);
  });

  test.each(
    cases.map((one): [string, string, string, AlertCase] => [
      one.alert,
      one.fires.length === 0 ? 'is silent' : 'fires',
      one.when,
      one,
    ]),
  )('%s %s: %s', async (_name, _fires, _when, one) => {
    expect(await evaluate([unitTest(one)])).toContain('SUCCESS');
  });

  test('a case that does not hold would be found', async () => {
    const [first] = cases;
    if (first === undefined) throw new Error('no cases');
    await expect(evaluate([unitTest({ ...first, fires: [] })])).rejects.toThrow('EdgeOperatorAbsent');
  });

  test('what people read has the values filled in', async () => {
    const rule = alerts.find(({ alert }) => alert === 'EdgeOperatorBudgetExhausted');
    const one = cases.find(({ alert }) => alert === 'EdgeOperatorBudgetExhausted');
    if (rule === undefined || one === undefined) throw new Error('no such alert');
    const { promql_expr_test: _, ...input } = unitTest(one) as Record<string, unknown>;
    const alert = {
      exp_labels: { severity: 'warning', ...target, account: 'default' },
      exp_annotations: {
        ...rule.annotations,
        summary: 'The request budget of account default is nearly used up.',
        description: rule.annotations.description?.replace('{{ $value | humanizePercentage }}', '95.83%'),
      },
    };
    const tests = [{ ...input, alert_rule_test: [{ eval_time: '16m', alertname: rule.alert, exp_alerts: [alert] }] }];
    expect(await evaluate(tests)).toContain('SUCCESS');
  });
});

import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { type Alert, rulesFile, scope } from '../observability/alerts.ts';

interface Rules {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Alert[] }[];
}

const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Numbers in expressions that are seconds too: of what takes as long in a hurry. */
const thresholds: Readonly<Record<string, RegExp>> = {
  EdgeOperatorReconcileStuck: /(?<=> )900\b/,
  EdgeOperatorQueueSlow: /(?<=> )300\b/,
  EdgeOperatorMirrorStale: /(?<=\+ )300\b/,
};

/**
 * The chart's rules for one release, with every time in them divided: how long something is to hold, the ranges that
 * rates and extremes are taken of, how far back is looked, and what is compared with a time. Nothing else differs from
 * what is installed; what the operator takes its own time for is not in a hurry.
 */
export function scaledRules(release: Readonly<Record<string, string>>, factor: number): string {
  const written = readFileSync(rulesFile, 'utf8');
  const { groups } = parse(written.replaceAll(scopeOf(scope), scopeOf(release))) as Rules;
  const scaled = groups.map(({ name, rules }) => ({
    name: `${release.job} ${name}`,
    rules: rules.map((rule) => scaledRule(rule, factor)),
  }));
  return stringify({ groups: scaled }, { lineWidth: 0 });
}

function scaledRule(rule: Alert, factor: number): Alert {
  const expr = scaledThreshold(rule, factor).replace(/(?<=\[|offset )\d+[smhd]/g, (time) => divided(time, factor));
  return { ...rule, expr, ...(rule.for === undefined ? {} : { for: divided(rule.for, factor) }) };
}

function scaledThreshold({ alert, expr }: Alert, factor: number): string {
  const pattern = thresholds[alert];
  if (pattern === undefined) return expr;
  if (!pattern.test(expr)) throw new Error(`${alert} compares with another time than it did`);
  return expr.replace(pattern, (value) => String(Number(value) / factor));
}

function divided(duration: string, factor: number): string {
  const [, count = '', unit = ''] = /^(\d+)([smhd])$/.exec(duration) ?? [];
  return `${Math.round((Number(count) * (seconds[unit] ?? Number.NaN) * 1_000) / factor)}ms`;
}

function scopeOf({ job, namespace }: Readonly<Record<string, string>>): string {
  return `job="${job}",namespace="${namespace}"`;
}

import { type Besides, type PartReport, type Report, type Retry, report } from '../status/outcome.ts';

export interface NamedReport {
  readonly name: string;
  readonly condition: string | undefined;
  readonly report: Report;
  /** When it was known: others may have waited for hours since, as for a budget. */
  readonly at: number;
}

/**
 * Sums the parts up as of `now`: Ready when all are, else for the first reason that only a person can help with, or the
 * first there is, with what is wrong with each.
 */
export function summarise(parts: readonly NamedReport[], whenAvailable: string, now: number): Report {
  const failing = parts.filter((part) => part.report.reason !== 'Available');
  const conditions = parts.flatMap(({ condition, report: own }): PartReport[] =>
    condition === undefined ? [] : [{ condition, report: own }],
  );
  // While only a person can help with one of them, the whole will not get ready by itself.
  const first = failing.find((part) => part.report.stalled) ?? failing[0];
  if (first === undefined) return report('Available', whenAvailable, { parts: conditions });
  const operationID = failing.map((part) => part.report.operationID).find((id) => id !== undefined);
  return report(first.report.reason, failing.map(described).join('; '), {
    stalled: first.report.stalled,
    retry: soonest(parts.map(({ report: { retry }, at }) => inLess(retry, now - at))),
    parts: conditions,
    ...(failing.every(({ report: { isPending } }) => isPending === true) && { isPending: true }),
    ...(operationID && { operationID }),
  });
}

function described({ name, condition, report: own }: NamedReport): string {
  return condition === undefined ? own.message : `${name}: ${own.message}`;
}

function inLess(retry: Retry, passedMs: number): Retry {
  if (retry.kind === 'backoff') return { kind: 'backoff', atLeastMs: Math.max(0, (retry.atLeastMs ?? 0) - passedMs) };
  return retry.kind === 'after' ? { kind: 'after', ms: Math.max(0, retry.ms - passedMs) } : retry;
}

function soonest(retries: readonly Retry[]): Retry {
  const backoffs = retries.flatMap((retry) => (retry.kind === 'backoff' ? [retry.atLeastMs ?? 0] : []));
  const delays = retries.flatMap((retry) => (retry.kind === 'after' ? [retry.ms] : []));
  const besides: Besides = delays.length > 0 ? { kind: 'after', ms: Math.min(...delays) } : { kind: 'resync' };
  if (backoffs.length === 0) return besides;
  const hasOthers = backoffs.length < retries.length;
  return { kind: 'backoff', atLeastMs: Math.min(...backoffs), ...(hasOthers && { besides }) };
}

import { definitions } from '../../src/operator/kinds/index.ts';
import { accountStates } from '../../src/operator/metrics/account-metrics.ts';
import { metricDefinitions } from '../../src/operator/metrics/metric-names.ts';
import { createMetrics } from '../../src/operator/metrics/metrics.ts';
import { reasons } from '../../src/operator/reconcile/status/reasons.ts';
import { parseMetrics } from '../support/prometheus-text.ts';

export const kindNames: readonly string[] = definitions.map(({ type }) => type.kind);

/** The values of labels that take theirs from a fixed set. */
export const labelValues: Readonly<Record<string, readonly string[]>> = {
  controller: kindNames.map((kind) => kind.toLowerCase()),
  result: ['success', 'error', 'requeue', 'requeue_after'],
  code: ['1xx', '2xx', '3xx', '4xx', '5xx', 'none'],
  outcome: ['ok', 'RateLimited', 'Unauthorized', 'Unreachable', 'Rejected', 'Conflict', 'NotFound'],
  priority: ['change', 'first', 'resync'],
  state: accountStates,
  kind: kindNames,
  ready: ['True', 'False', 'Unknown'],
  reason: [...reasons, '', 'other'],
};

/** Labels of every series by its name: the operator's own, and those of the process. */
export async function seriesLabels(): Promise<ReadonlyMap<string, readonly string[]>> {
  const own = metricDefinitions.flatMap(({ type, name, labelNames }): [string, readonly string[]][] =>
    type === 'histogram'
      ? [
          [`${name}_bucket`, [...labelNames, 'le']],
          [`${name}_sum`, labelNames],
          [`${name}_count`, labelNames],
        ]
      : [[name, labelNames]],
  );
  const { body } = await createMetrics({ version: '0', now: () => 0 }).scrape();
  const process = parseMetrics(body).filter(({ name }) => /^(process|nodejs)_/.test(name));
  return new Map([...own, ...process.map(({ name }): [string, readonly string[]] => [name, []])]);
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export const projectDir = join(import.meta.dirname, '../..');
/** Of the release that the file is written for; the chart puts another's in its place. */
export const scope: Readonly<Record<string, string>> = { job: 'edge-operator-metrics', namespace: 'edge-operator' };

export const rulesFile = join(projectDir, 'charts/edge-operator/files/alerts.yaml');

const { groups } = parse(readFileSync(rulesFile, 'utf8')) as {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Alert[] }[];
};

export const alerts: readonly Alert[] = groups.flatMap(({ rules }) => rules);

/**
 * Writes what lists every kind: the table of the README and the health checks of Argo CD. With --check it writes nothing
 * and fails when something is not as it would write it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { definitions } from '../src/operator/kinds/index.ts';
import type { KindDefinition } from '../src/operator/reconcile/kind.ts';
import { managedSpec } from '../src/operator/reconcile/resource/resource.ts';

const project = join(import.meta.dirname, '..');

/** What stands between the two, each a text that is there once. */
interface Place {
  readonly file: string;
  readonly after: string;
  readonly before: string;
  readonly text: string;
}

function row({ type, shortNames, description, spec }: KindDefinition): string {
  const fields = Object.keys(spec.shape).filter((field) => !(field in managedSpec));
  const names = [`\`${type.kind}\``, ...shortNames.map((name) => `(\`${name}\`)`)];
  return `| ${names.join(' ')} | ${description} | ${fields.map((field) => `\`${field}\``).join(', ')} |\n`;
}

const health = ({ type }: KindDefinition) => `  resource.customizations.health.${type.group}_${type.kind}:`;

const places: readonly Place[] = [
  {
    file: 'README.md',
    after: '| Kind (short name) | What it is | Spec |\n|---|---|---|\n',
    before: '\nOf modules the operator touches',
    text: definitions.map(row).join(''),
  },
  {
    file: 'deploy/argocd/argocd-cm.yaml',
    // Behind the check itself, which is the first kind's and serves the others too.
    after: '    return { status = "Progressing", message = ready.message }\n  ',
    before: '',
    text: definitions
      .slice(1)
      .map((definition) => `${health(definition)} *health\n`)
      .join('')
      .trimStart(),
  },
];

function written({ file, after, before, text }: Place): string {
  const found = readFileSync(join(project, file), 'utf8');
  const start = found.lastIndexOf(after) + after.length;
  const end = before === '' ? found.length : found.indexOf(before, start);
  if (start < after.length || end < 0) throw new Error(`${file}: the place of the kinds is not there`);
  return found.slice(0, start) + text + found.slice(end);
}

for (const place of places) {
  const path = join(project, place.file);
  const text = written(place);
  if (readFileSync(path, 'utf8') === text) continue;
  if (process.argv.includes('--check')) {
    console.error(`error: not as generated: ${place.file}; run: npm run generate`);
    process.exitCode = 1;
  } else writeFileSync(path, text);
}

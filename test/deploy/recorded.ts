import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';

const folder = join(import.meta.dirname, 'statuses');

/** Everything that differs from run to run, and what stands for it. */
const varying: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '2026-01-01T00:00:00Z'],
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '00000000-0000-0000-0000-000000000000'],
  [/("(?:edge-operator\.dev\/)?(?:installation|key-mark)":)"[^"]*"/g, '$1"..."'],
  // Whether the service has answered anything before the first create is, too.
  [/(\\"clock\\":\\")own/g, '$1service'],
  [/127\.0\.0\.1:\d+/g, '127.0.0.1:20000'],
  [/(\w\.localhost):\d+/g, '$1:20000'],
  [/("(?:latency|agentVersion)":)"[^"]*"/g, '$1"..."'],
  [/\b\d+(\.tcp\.\w+\.localhost)/g, '1$1'],
  [/("port":)\d+/g, '$120000'],
  [/-----BEGIN [^"]*-----END CERTIFICATE-----/g, '-----BEGIN CERTIFICATE-----\\n...\\n-----END CERTIFICATE-----'],
];

/** The object as the API server has it, without what differs from run to run, as YAML. */
export function recordOf(object: ManagedObject): string {
  const { name, namespace, generation, deletionTimestamp, finalizers, annotations } = object.metadata;
  const noted = Object.keys(annotations ?? {}).length > 0 ? { annotations } : {};
  const metadata = { name, generation, deletionTimestamp, finalizers, ...noted };
  let text = JSON.stringify({ ...object, metadata }).replaceAll(`${namespace}/`, 'default/');
  for (const [pattern, replacement] of varying) text = text.replaceAll(pattern, replacement);
  return stringify(sorted(JSON.parse(withNumberedIDs(text))), { lineWidth: 0 });
}

/** Ids as the service gives them, numbered in the order in which they appear. */
function withNumberedIDs(text: string): string {
  const ids = [...new Set(text.match(/\b[a-z]+_[0-9A-Za-z]{27}\b/g))];
  return ids.reduce((result, id, index) => result.replaceAll(id, `${id.split('_')[0]}_${index + 1}`), text);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(byKey)
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

export interface Recorded {
  readonly kind: string;
  readonly state: string;
  readonly text: string;
  readonly object: ManagedObject;
}

/** Every status that is on record: a file for each kind, with a document for each state, which a comment names. */
export function recorded(): readonly Recorded[] {
  return readdirSync(folder).flatMap((name) => {
    const kind = name.replace(/\.yaml$/, '');
    const documents = [...documentsOf(kind)];
    return documents.map(([state, text]) => ({ kind, state, text, object: parse(text) }));
  });
}

/** Puts the record in the place of the one of this state, if there is one. */
export function write(kind: string, state: string, record: string): void {
  const documents = [...documentsOf(kind).set(state, record)].sort(byKey);
  mkdirSync(folder, { recursive: true });
  writeFileSync(pathOf(kind), documents.map(([name, text]) => `# ${name}\n${text}`).join('---\n'));
}

const pathOf = (kind: string) => join(folder, `${kind}.yaml`);

/** The documents of a kind's file, by their states. */
function documentsOf(kind: string): Map<string, string> {
  if (!existsSync(pathOf(kind))) return new Map();
  const documents = readFileSync(pathOf(kind), 'utf8').split(/^---\n/m);
  return new Map(documents.map((document) => [/^# (.*)\n/.exec(document)?.[1] ?? '', document.replace(/^# .*\n/, '')]));
}

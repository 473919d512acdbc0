import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { tool } from '../../scripts/tools.ts';

const run = promisify(execFile);

export const chartDir = join(import.meta.dirname, '../../charts/edge-operator');

/** As in values.yaml; only what differs from it. */
export type Values = Readonly<Record<string, unknown>>;

/** An object as the chart renders it. */
export interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly generation?: number;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: tests look into objects of every shape
  readonly [field: string]: any;
}

/** Helm 4 and Helm 3, as test/tools has them. */
export type Helm = 'helm' | 'helm-3';

interface HelmOptions {
  readonly values?: Values;
  readonly env?: object;
  /** Default Helm 4. */
  readonly by?: Helm;
}

/** Runs Helm, with nothing of the user's own configuration; resolves with what it printed, fails with what it complained of. */
export async function helm(args: readonly string[], options: HelmOptions = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'edge-operator-helm-'));
  const file = join(dir, 'values.yaml');
  writeFileSync(file, JSON.stringify(options.values ?? {}));
  try {
    const withValues = options.values === undefined ? args : [...args, '--values', file];
    const env = { PATH: process.env.PATH, HOME: dir, ...options.env };
    return (await run(await tool(options.by ?? 'helm'), withValues, { env, maxBuffer: 64 * 1024 * 1024 })).stdout;
  } catch (error) {
    throw new Error((error as { stderr?: string }).stderr || String(error), { cause: error });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Name and namespace of the release that `render` renders. */
export const release = { name: 'edge', namespace: 'edge-system' };

interface RenderOptions {
  readonly chart?: string;
  /** Kinds that the cluster has already, as `group/version/Kind`. */
  readonly served?: readonly string[];
  readonly kubernetes?: string;
  /** With what `helm test` would create; default without. */
  readonly tests?: boolean;
  /** Of the release; default those of `release`. */
  readonly name?: string;
  readonly namespace?: string;
}

/** What `helm install` would create. */
export async function render(
  values: Values,
  {
    chart = chartDir,
    served = [],
    kubernetes = '1.30.0',
    tests = false,
    name = release.name,
    namespace = release.namespace,
  }: RenderOptions = {},
): Promise<readonly Rendered[]> {
  const args = [
    'template',
    name,
    chart,
    '--namespace',
    namespace,
    '--kube-version',
    kubernetes,
    ...(tests ? [] : ['--skip-tests']),
  ];
  const text = await helm([...args, ...served.flatMap((kind) => ['--api-versions', kind])], { values });
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Rendered | null)
    .filter((object) => object !== null);
}

/** The only object of that kind and, when given, name. */
export function only(objects: readonly Rendered[], kind: string, name?: string): Rendered {
  const found = objects.filter(
    (object) => object.kind === kind && (name ?? object.metadata.name) === object.metadata.name,
  );
  const [first] = found;
  if (first === undefined || found.length > 1) throw new Error(`${found.length} objects of kind ${kind} ${name ?? ''}`);
  return first;
}

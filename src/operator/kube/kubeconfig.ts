import { delimiter, dirname, isAbsolute, join } from 'node:path';
import type { Runtime } from '../../common/runtime.ts';
import { parseYaml } from '../../common/yaml.ts';

/** The kubeconfig cannot be used: one line that names the file and the cause. */
export class KubeConfigError extends Error {
  override readonly name = 'KubeConfigError';
}

export type Fields = Readonly<Record<string, unknown>>;
/** Files and variables, which say where files are. */
export type Surroundings = Pick<Runtime, 'env' | 'readFile'>;
type Entry = Fields & { readonly name: string };

/** What the current context names, with paths made absolute. */
export interface KubeContext {
  readonly cluster: Fields & { readonly server: string };
  /** Empty for an anonymous one. */
  readonly user: Fields;
  readonly namespace: string | undefined;
}

interface KubeConfigFile {
  readonly clusters: readonly Entry[];
  readonly users: readonly Entry[];
  readonly contexts: readonly Entry[];
  readonly 'current-context': string;
}

/**
 * Of the path given, else `$KUBECONFIG`, else `~/.kube/config`; several files are merged as kubectl does (the first to
 * name a thing wins). @throws KubeConfigError
 */
export async function readKubeConfig(path: string | undefined, from: Surroundings): Promise<KubeContext> {
  const paths = path !== undefined ? [path] : defaultPaths(from);
  const files = await Promise.all(paths.map((each) => readOne(from, each, paths.length > 1)));
  return currentContext(merge(files.filter((file) => file !== undefined)), paths.join(delimiter));
}

function defaultPaths({ env }: Surroundings): string[] {
  const listed = (env('KUBECONFIG') ?? '').split(delimiter).filter((path) => path !== '');
  return listed.length > 0 ? listed : [join(env('HOME') ?? '', '.kube', 'config')];
}

async function readOne(
  { readFile }: Surroundings,
  path: string,
  mayBeMissing: boolean,
): Promise<KubeConfigFile | undefined> {
  let text: string;
  try {
    text = await readFile(path);
  } catch (error) {
    if (mayBeMissing && codeOf(error) === 'ENOENT') return undefined;
    throw new KubeConfigError(`kubeconfig ${path}: ${reasonOf(error)}`, { cause: error });
  }
  return normalise(parseFields(path, text), path);
}

function parseFields(path: string, text: string): Fields {
  let document: unknown;
  try {
    document = parseYaml(text);
  } catch (error) {
    throw new KubeConfigError(`kubeconfig ${path}: not valid YAML: ${(error as Error).message}`);
  }
  if (!isFields(document)) throw new KubeConfigError(`kubeconfig ${path}: not a kubeconfig (expected a mapping)`);
  return document;
}

function normalise(document: Fields, path: string): KubeConfigFile {
  const directory = dirname(path);
  return {
    clusters: entries(document, 'clusters', 'cluster', path, (cluster) =>
      absolute(cluster, ['certificate-authority'], directory),
    ),
    users: entries(document, 'users', 'user', path, (user) => normaliseUser(user, directory)),
    contexts: entries(document, 'contexts', 'context', path, (context) => context),
    'current-context': typeof document['current-context'] === 'string' ? document['current-context'] : '',
  };
}

function entries(document: Fields, list: string, noun: string, path: string, map: (value: Fields) => Fields): Entry[] {
  const found = document[list] ?? [];
  if (!Array.isArray(found)) throw new KubeConfigError(`kubeconfig ${path}: ${list} is not a list`);
  return found.map((entry: unknown, index) => {
    if (!isFields(entry) || typeof entry.name !== 'string') {
      throw new KubeConfigError(`kubeconfig ${path}: ${list}[${index}].name is missing`);
    }
    const value = entry[noun] ?? {};
    if (!isFields(value)) throw new KubeConfigError(`kubeconfig ${path}: ${list}[${index}].${noun} is not a mapping`);
    return { name: entry.name, [noun]: map(value) };
  });
}

function normaliseUser(user: Fields, directory: string): Fields {
  const { exec, ...rest } = absolute(user, ['client-certificate', 'client-key', 'tokenFile'], directory);
  return isFields(exec) ? { ...rest, exec: normaliseExec(exec, directory) } : rest;
}

/** Plugins of `client.authentication.k8s.io/v1` insist on KUBERNETES_EXEC_INFO. */
function normaliseExec(exec: Fields, directory: string): Fields {
  const { command, env, apiVersion } = exec;
  const info = JSON.stringify({ apiVersion, kind: 'ExecCredential', spec: { interactive: false } });
  const isPath = typeof command === 'string' && command.includes('/');
  return {
    ...(isPath ? absolute(exec, ['command'], directory) : exec),
    env: [...(Array.isArray(env) ? env : []), { name: 'KUBERNETES_EXEC_INFO', value: info }],
  };
}

function absolute(fields: Fields, keys: readonly string[], directory: string): Fields {
  const changed: Record<string, unknown> = { ...fields };
  for (const key of keys) {
    const path = fields[key];
    if (typeof path === 'string' && path !== '' && !isAbsolute(path)) changed[key] = join(directory, path);
  }
  return changed;
}

function merge(files: readonly KubeConfigFile[]): KubeConfigFile {
  const firstOfName = (list: readonly Entry[]) => [
    ...new Map(list.toReversed().map((each) => [each.name, each])).values(),
  ];
  return {
    clusters: firstOfName(files.flatMap((file) => file.clusters)),
    users: firstOfName(files.flatMap((file) => file.users)),
    contexts: firstOfName(files.flatMap((file) => file.contexts)),
    'current-context': files.map((file) => file['current-context']).find((name) => name !== '') ?? '',
  };
}

function currentContext(config: KubeConfigFile, path: string): KubeContext {
  const name = config['current-context'];
  if (name === '') throw new KubeConfigError(`kubeconfig ${path}: current-context is not set`);
  const context = find(config.contexts, name)?.context;
  if (!isFields(context)) throw new KubeConfigError(`kubeconfig ${path}: no context named "${name}"`);
  const cluster = find(config.clusters, context.cluster)?.cluster;
  const wanted = `kubeconfig ${path}: context "${name}"`;
  if (!isFields(cluster)) throw new KubeConfigError(`${wanted}: no cluster named "${context.cluster}"`);
  if (!isServer(cluster.server)) {
    throw new KubeConfigError(`kubeconfig ${path}: cluster "${context.cluster}": server is not an http or https URL`);
  }
  if (hasUser(cluster.server)) {
    throw new KubeConfigError(
      `kubeconfig ${path}: cluster "${context.cluster}": server holds a user: write it under users`,
    );
  }
  const user = context.user ? find(config.users, context.user)?.user : {};
  if (!isFields(user)) throw new KubeConfigError(`${wanted}: no user named "${context.user}"`);
  return { cluster: { ...cluster, server: cluster.server }, user, namespace: textOf(context.namespace) };
}

function isServer(server: unknown): server is string {
  return typeof server === 'string' && /^https?:$/.test(URL.parse(server)?.protocol ?? '');
}

/** Messages name the server: what is secret has no place in it. */
function hasUser(server: string): boolean {
  const { username = '', password = '' } = URL.parse(server) ?? {};
  return username !== '' || password !== '';
}

/** Of a field; undefined when it is empty, or no text. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function find(list: readonly Entry[], name: unknown): Entry | undefined {
  return list.find((entry) => entry.name === name);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function codeOf(error: unknown): unknown {
  return isFields(error) ? error.code : undefined;
}

/** Of a file that cannot be read. */
export function reasonOf(error: unknown): string {
  if (codeOf(error) === 'ENOENT') return 'no such file';
  if (codeOf(error) === 'EISDIR') return 'a folder, not a file';
  if (codeOf(error) === 'EACCES') return 'permission denied';
  return error instanceof Error ? error.message : String(error);
}

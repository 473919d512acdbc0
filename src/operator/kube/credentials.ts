import { access, readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import type { KubeConfig } from '@kubernetes/client-node';
import { KubeConfigError, readKubeConfig } from './kubeconfig.ts';

const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

export type TlsMaterial = Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized' | 'servername'>;

/** What a request needs: headers that authenticate it and the TLS material of its connection. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
}

/** Where the API server is, and a way to (re)load how to authenticate to it. */
export interface ClusterAccess {
  readonly server: string;
  readonly namespace: string;
  readonly inCluster: boolean;
  readonly proxyURL: string | undefined;
  /** A loader with empty caches: file tokens are read and exec plugins run again. */
  load(): Promise<() => Promise<Credentials>>;
}

/** An explicit kubeconfig, else the pod's service account, else the default kubeconfig. */
export async function findAccess(path: string | undefined, env: NodeJS.ProcessEnv): Promise<ClusterAccess> {
  const inCluster = path === undefined && (await hasServiceAccount(env));
  const open = () => (inCluster ? loadInCluster() : loadFile(path, env));
  const config = await open();
  const cluster = config.getCurrentCluster();
  const context = config.getContextObject(config.getCurrentContext());
  if (cluster === null) throw new KubeConfigError('kubeconfig: the current context names no cluster');
  if (cluster.proxyUrl && !/^https?:/.test(cluster.proxyUrl)) {
    throw new KubeConfigError(`kubeconfig: cluster "${cluster.name}": proxy-url must be an http or https URL`);
  }
  return {
    server: cluster.server.replace(/\/$/, ''),
    namespace: (inCluster ? await ownNamespace() : context?.namespace) || 'default',
    inCluster,
    proxyURL: cluster.proxyUrl || undefined,
    load: async () => {
      const fresh = await open();
      return () => credentialsOf(fresh);
    },
  };
}

async function hasServiceAccount(env: NodeJS.ProcessEnv): Promise<boolean> {
  if (!env.KUBERNETES_SERVICE_HOST) return false;
  return access(join(serviceAccountFolder, 'token')).then(
    () => true,
    () => false,
  );
}

async function ownNamespace(): Promise<string> {
  return (await readFile(join(serviceAccountFolder, 'namespace'), 'utf8').catch(() => '')).trim();
}

async function loadInCluster(): Promise<KubeConfig> {
  const config = await emptyConfig();
  config.loadFromCluster();
  return config;
}

async function loadFile(path: string | undefined, env: NodeJS.ProcessEnv): Promise<KubeConfig> {
  const file = await readKubeConfig(path, env);
  const config = await emptyConfig();
  try {
    config.loadFromString(JSON.stringify(file));
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new KubeConfigError(`kubeconfig ${path ?? '(default)'}: ${cause}`, { cause: error });
  }
  admitPlainHttp(config);
  return config;
}

/** Imported here, not at the top: it costs a third of a second, which only commands that connect should pay. */
async function emptyConfig(): Promise<KubeConfig> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  return new KubeConfig();
}

/** client-node refuses http servers unless TLS verification is off; there is none to verify. */
function admitPlainHttp(config: KubeConfig): void {
  config.clusters = config.clusters.map((cluster) =>
    cluster.server.startsWith('http:') ? { ...cluster, skipTLSVerify: true } : cluster,
  );
}

async function credentialsOf(config: KubeConfig): Promise<Credentials> {
  // client-node gives a context without a user no CA either, so it gets an anonymous one.
  if (config.getCurrentUser() === null) addAnonymous(config);
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  return { headers: headersOf(options), tls: tlsOf(options) };
}

function addAnonymous(config: KubeConfig): void {
  const user = { name: 'anonymous' };
  config.users = [...config.users, user];
  config.contexts = config.contexts.map((each) =>
    each.name === config.getCurrentContext() ? { ...each, user: user.name } : each,
  );
}

function headersOf(options: RequestOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  if (options.auth) headers.authorization = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  // A token file often ends in a newline, which no header may hold.
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name.toLowerCase()] = String(value).trim();
  return headers;
}

function tlsOf(options: RequestOptions): TlsMaterial {
  const { ca, cert, key, rejectUnauthorized, servername } = options;
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
    ...(servername === undefined ? {} : { servername }),
  };
}

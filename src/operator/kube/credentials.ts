import type { ConnectionOptions } from 'node:tls';
import { authPlugin } from './auth-plugin.ts';
import { inClusterContext } from './in-cluster.ts';
import {
  type Fields,
  KubeConfigError,
  type KubeContext,
  readKubeConfig,
  type Surroundings,
  textOf,
} from './kubeconfig.ts';
import { checkMaterial, materialOf } from './material.ts';

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
  /** Throws a KubeConfigError where what the kubeconfig names cannot be used; a pod's own, which is rotated, is not asked. */
  check(): Promise<void>;
  /** A loader that reads files at each call; a new one also runs exec plugins again. */
  load(): Promise<() => Promise<Credentials>>;
}

/** An explicit kubeconfig, else the pod's service account, else the default kubeconfig. @throws KubeConfigError */
export async function findAccess(path: string | undefined, from: Surroundings): Promise<ClusterAccess> {
  const own = path === undefined ? await inClusterContext(from) : undefined;
  const open = async () => own ?? readKubeConfig(path, from);
  const context = await open();
  const { cluster, namespace } = context;
  return {
    server: cluster.server.replace(/\/$/, ''),
    namespace: namespace || 'default',
    inCluster: own !== undefined,
    proxyURL: proxyOf(cluster),
    check: async () => (own === undefined ? checkMaterial(context, from) : undefined),
    load: async () => loader(await open(), from),
  };
}

function proxyOf(cluster: Fields): string | undefined {
  const url = textOf(cluster['proxy-url']);
  if (url === undefined || /^https?:/.test(url)) return url;
  throw new KubeConfigError('kubeconfig: the cluster of the current context: proxy-url must be an http or https URL');
}

async function loader(context: KubeContext, from: Surroundings): Promise<() => Promise<Credentials>> {
  const plugin = await authPlugin(context.user);
  return async () => {
    const [given, headers, tls] = await Promise.all([plugin?.(), headersOf(context, from), tlsOf(context, from)]);
    return { headers: { ...given?.headers, ...headers }, tls: { ...tls, ...given?.tls } };
  };
}

async function headersOf({ user }: KubeContext, { readFile }: Surroundings): Promise<Record<string, string>> {
  const token = await tokenOf(user, readFile);
  const { username, as } = user;
  return {
    ...(textOf(username) && { authorization: `Basic ${encoded(`${username}:${textOf(user.password) ?? ''}`)}` }),
    ...(token && { authorization: `Bearer ${token}` }),
    ...(textOf(as) && { 'impersonate-user': String(as) }),
  };
}

async function tokenOf({ token, tokenFile }: Fields, readFile: Surroundings['readFile']): Promise<string | undefined> {
  const path = textOf(tokenFile);
  if (path === undefined) return textOf(token)?.trim();
  // A file often ends in a newline, which no header may hold.
  const text = (await readFile(path)).trim();
  if (text === '') throw new Error(`${path} is empty`);
  return text;
}

async function tlsOf({ cluster, user }: KubeContext, { readFile }: Surroundings): Promise<TlsMaterial> {
  const [ca, cert, key] = await Promise.all([
    materialOf(cluster, 'certificate-authority', readFile),
    materialOf(user, 'client-certificate', readFile),
    materialOf(user, 'client-key', readFile),
  ]);
  const servername = textOf(cluster['tls-server-name']);
  return {
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(cluster['insecure-skip-tls-verify'] === true && { rejectUnauthorized: false }),
    ...(servername && { servername }),
  };
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64');
}

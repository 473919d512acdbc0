import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Agent, fetch, type RequestInit } from 'undici';
import { parse } from 'yaml';
import type { ServerRuntime } from '../../src/common/runtime.ts';
import { createKubeApi, type KubeApiCoreOptions } from '../../src/reference/kube-api/core.ts';
import { kubeconfigText } from '../../src/reference/kube-api/kubeconfig.ts';
import { loadCrds, startKubeApi } from '../../src/reference/kube-api/server.ts';
import { isInMemory, serveInMemory, testRuntime } from './in-memory.ts';
import { claimPorts } from './ports.ts';
import { until } from './until.ts';

const run = promisify(execFile);
const projectCrds = join(import.meta.dirname, '../../crds');

export interface TestKubeApi {
  /** Path of a kubeconfig file. */
  readonly kubeconfig: string;
  readonly url: string;
  readonly token: string;
  readonly kind: 'embedded' | 'real';
  stop(): Promise<void>;
}

export interface TestKubeApiOptions {
  /** The project's own definitions, or others; none when absent. */
  readonly crds?: 'project' | readonly object[];
  /** Old versions are forgotten within seconds, as after hours on a cluster: a watch or page from then is told 410. */
  readonly forgets?: boolean;
  /** Of the embedded one; default the system's. */
  readonly runtime?: ServerRuntime;
  /** Folder with the scripts of a real one, other than TEST_KUBE_APISERVER. */
  readonly scripts?: string | undefined;
}

/**
 * A Kubernetes API for tests: the embedded one, or a real one when TEST_KUBE_APISERVER names a folder with the scripts
 * `start DIR` (prints the path of a kubeconfig) and `stop DIR`. Resolves when every definition is served.
 */
export async function startTestKubeApi({
  crds = [],
  forgets = false,
  runtime,
  scripts = process.env.TEST_KUBE_APISERVER,
}: TestKubeApiOptions = {}): Promise<TestKubeApi> {
  const definitions = crds === 'project' ? loadCrds(projectCrds) : crds;
  const dir = await mkdtemp(join(tmpdir(), 'kube-api-'));
  return scripts === undefined || scripts === ''
    ? startEmbedded(dir, { crds: definitions, runtime, ...(forgets ? { historyLimit: 1 } : {}) })
    : startReal(dir, scripts, definitions, forgets ? ['--watch-cache=false', '--etcd-compaction-interval=1s'] : []);
}

async function startEmbedded(dir: string, options: KubeApiCoreOptions): Promise<TestKubeApi> {
  const api = await (isInMemory ? startInMemory(options) : startKubeApi(options));
  const kubeconfig = join(dir, 'kubeconfig');
  await writeFile(kubeconfig, api.kubeconfig(), { mode: 0o600 });
  const stop = async () => {
    await api.close();
    await rm(dir, { recursive: true, force: true });
  };
  return { kubeconfig, url: api.url, token: api.token, kind: 'embedded', stop };
}

async function startInMemory(options: KubeApiCoreOptions) {
  const { token, listener, close } = createKubeApi(options);
  const { url, leave } = serveInMemory(listener);
  return {
    url,
    token,
    kubeconfig: () => kubeconfigText({ url, token, certificate: undefined }),
    close: async () => {
      leave();
      close();
    },
  };
}

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: { readonly server: string } }];
  readonly users: readonly [{ readonly user: { readonly token: string } }];
}

async function startReal(
  dir: string,
  scripts: string,
  crds: readonly object[],
  flags: readonly string[],
): Promise<TestKubeApi> {
  const { ports, release } = await claimPorts(2);
  const stop = async () => {
    await run(join(scripts, 'stop'), [dir]);
    await release();
    await rm(dir, { recursive: true, force: true });
  };
  try {
    const { stdout } = await run(join(scripts, 'start'), [dir, ...ports.map(String)], {
      env: { ...process.env, KUBE_APISERVER_ARGS: flags.join(' ') },
    });
    return { ...(await prepared(stdout.trim(), crds)), kind: 'real', stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A server that has just started, with definitions. */
async function prepared(kubeconfig: string, crds: readonly object[]) {
  const config: Kubeconfig = parse(await readFile(kubeconfig, 'utf8'));
  const url = config.clusters[0].cluster.server;
  const token = config.users[0].user.token;
  await installCrds(kubeRequests(url, token), crds);
  return { kubeconfig, url, token };
}

export type KubeRequest = (path: string, init?: RequestInit) => ReturnType<typeof fetch>;

/** Requests to a test server, with its token and without a look at its certificate. */
export function kubeRequests(url: string, token: string): KubeRequest {
  const dispatcher = testRuntime.dispatcher ?? new Agent({ connect: { rejectUnauthorized: false } });
  return (path, init = {}) =>
    fetch(`${url}${path}`, { dispatcher, ...init, headers: { Authorization: `Bearer ${token}`, ...init.headers } });
}

interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly name: string; readonly served: boolean }[];
  };
}

/** Creates definitions and waits until every version of each can be listed and watched. */
export async function installCrds(request: KubeRequest, crds: readonly object[]): Promise<void> {
  for (const crd of crds) {
    const response = await request('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(crd),
    });
    if (!response.ok) throw new Error(`creating a CRD: ${await response.text()}`);
  }
  for (const { spec } of crds as readonly Definition[]) {
    for (const version of spec.versions.filter(({ served }) => served)) {
      const path = `/apis/${spec.group}/${version.name}/${spec.names.plural}`;
      await until(`${path} to be served`, () => isServed(request, path));
    }
  }
}

async function isServed(request: KubeRequest, path: string): Promise<boolean> {
  for (const query of ['limit=1', 'watch=true&timeoutSeconds=1&resourceVersion=0']) {
    const response = await request(`${path}?${query}`);
    await response.body?.cancel();
    if (!response.ok) return false;
  }
  return true;
}

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestKubeApi } from '../support/kube-api.ts';
import { main } from '../support/main.ts';
import type { Rendered } from './helm.ts';
import type { Objects } from './objects.ts';
import { containerOf } from './pods.ts';

const serviceAccount = '/var/run/secrets/kubernetes.io/serviceaccount';

export interface Pod {
  logs(): string;
  /** The answer to a probe, as the kubelet would send it. */
  probe(name: 'livenessProbe' | 'readinessProbe'): Promise<number>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | NodeJS.Signals>;
}

/**
 * The container of a Deployment as a process: its arguments, its environment, its Secrets where it mounts them, and a
 * service account where pods have one. Where this machine does not let us mount, files are elsewhere and the arguments
 * say so.
 */
export async function startPod(deployment: Rendered, kube: TestKubeApi, objects: Objects): Promise<Pod> {
  const dir = mkdtempSync(join(tmpdir(), 'edge-operator-pod-'));
  const container = containerOf(deployment);
  const { namespace = 'default' } = deployment.metadata;
  const mounts = await secretsOf(deployment, objects);
  mounts.set(serviceAccount, serviceAccountOf(kube, namespace));
  for (const [path, files] of mounts) writeFiles(join(dir, path), files);
  const given = Object.fromEntries((container.env ?? []).map(({ name, value }: NamedValue) => [name, value]));
  // The first chart that there was left the command to the image.
  const [, ...options] = (container.command ?? []).slice(0, -1);
  const program = [process.execPath, ...options, main];
  const [command = '', ...args] = mayMount()
    ? ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', mounting, dir, ...program, ...container.args]
    : [...program, ...container.args.map((text: string) => elsewhere(text, mounts.keys(), dir))];
  const address = mayMount() ? inCluster(kube) : { KUBECONFIG: kubeconfigIn(dir, kube, namespace) };
  const env = { PATH: process.env.PATH, HOME: dir, ...address, ...given };
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const exited = once(child, 'exit').then(([code, signal]) => {
    rmSync(dir, { recursive: true, force: true });
    return (code ?? signal) as number | NodeJS.Signals;
  });
  return {
    logs: () => output,
    async probe(name) {
      const { path, port } = container[name].httpGet;
      const { containerPort } = container.ports.find((each: { name: string }) => each.name === port);
      return (await fetch(`http://127.0.0.1:${containerPort}${path}`)).status;
    },
    stop: () => {
      child.kill('SIGTERM');
      return exited;
    },
  };
}

interface NamedValue {
  readonly name: string;
  readonly value: string;
}

type Files = Readonly<Record<string, string>>;

/** Lays $0/var/run over /var/run, for this process alone, and becomes the command. */
const mounting = 'mount --rbind "$0/var/run" "$(readlink -f /var/run)" && exec "$@"';

let canMount: boolean | undefined;
function mayMount(): boolean {
  if (canMount === undefined) {
    try {
      execFileSync('unshare', ['--user', '--map-root-user', '--mount', 'mount', '--rbind', '/tmp', '/mnt'], {
        stdio: 'ignore',
      });
      canMount = true;
    } catch {
      canMount = false;
    }
  }
  return canMount;
}

/** What each path is mounted with that is a Secret. */
async function secretsOf(deployment: Rendered, objects: Objects): Promise<Map<string, Files>> {
  const { volumes = [] } = deployment.spec.template.spec;
  const found = new Map<string, Files>();
  for (const { name, mountPath } of containerOf(deployment).volumeMounts ?? []) {
    const { secret } = volumes.find((volume: { name: string }) => volume.name === name);
    const { namespace = 'default' } = deployment.metadata;
    const metadata = { name: secret.secretName, namespace };
    const { data } = await objects.get({ apiVersion: 'v1', kind: 'Secret', metadata });
    const entries = secret.items.map(({ key, path }: { key: string; path: string }) => [path, decode(data[key])]);
    found.set(mountPath, Object.fromEntries(entries));
  }
  return found;
}

const decode = (base64: string) => Buffer.from(base64, 'base64').toString();

function serviceAccountOf(kube: TestKubeApi, namespace: string): Files {
  // The server's own certificate, with which it signed itself.
  const ca = readFileSync(join(dirname(kube.kubeconfig), 'certs/apiserver.crt'), 'utf8');
  return { namespace, 'ca.crt': ca, token: 'operatortoken' };
}

function inCluster(kube: TestKubeApi) {
  const { hostname, port } = new URL(kube.url);
  return { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
}

function elsewhere(text: string, paths: Iterable<string>, dir: string): string {
  const path = [...paths].find((each) => text.includes(each));
  return path === undefined ? text : text.replace(path, join(dir, path));
}

function kubeconfigIn(dir: string, kube: TestKubeApi, namespace: string): string {
  const path = join(dir, 'kubeconfig');
  const ca = join(dir, serviceAccount, 'ca.crt');
  writeFileSync(
    path,
    JSON.stringify({
      clusters: [{ name: 'c', cluster: { server: kube.url, 'certificate-authority': ca } }],
      users: [{ name: 'u', user: { tokenFile: join(dir, serviceAccount, 'token') } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace } }],
      'current-context': 'x',
    }),
  );
  return path;
}

function writeFiles(dir: string, files: Files): void {
  mkdirSync(dir, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
}

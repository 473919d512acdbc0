import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { parse } from 'yaml';

/** The embedded API in a process of its own, and what the system says about that process (Linux only). */
export interface KubeProcess {
  readonly url: string;
  readonly token: string;
  readonly kubeconfig: string;
  /** From the spawn to the line that says where it listens. */
  readonly startMs: number;
  /** Resident set size in MB. */
  memory(): Promise<number>;
  /** CPU time so far, user and system, in milliseconds. */
  cpuTime(): Promise<number>;
  /** Ends it with `signal` (SIGTERM when absent) and waits for that. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts `main kube` with flags; `main` is `src/main.ts` or `dist/main.js`. */
export async function startKubeProcess(main: string, ...flags: readonly string[]): Promise<KubeProcess> {
  const dir = await mkdtemp(join(tmpdir(), 'kube-process-'));
  const kubeconfig = join(dir, 'kubeconfig');
  const started = performance.now();
  const child = spawn(process.execPath, [main, 'kube', '--kubeconfig-out', kubeconfig, ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), exited.then(() => Promise.reject(new Error('it did not start')))]);
  const startMs = performance.now() - started;
  const config = parse(await readFile(kubeconfig, 'utf8'));
  return {
    url: config.clusters[0].cluster.server,
    token: config.users[0].user.token,
    kubeconfig,
    startMs,
    memory: () => memoryOf(child),
    cpuTime: () => cpuTimeOf(child),
    stop: async (signal) => {
      child.kill(signal);
      await exited;
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function memoryOf({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s*(\d+)/.exec(status)?.[1]) / 1_024;
}

const msPerTick = 10;

async function cpuTimeOf({ pid }: ChildProcess): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ');
  return (Number(fields[11]) + Number(fields[12])) * msPerTick;
}

export const addresses = '/apis/edge-operator.dev/v1alpha1/namespaces/default/reservedaddrs';

/** A custom resource that is `bytes` long as it is sent. */
export function customResource(name: string, bytes: number): string {
  const text = (metadata: string) =>
    JSON.stringify({
      apiVersion: 'edge-operator.dev/v1alpha1',
      kind: 'ReservedAddr',
      metadata: { name },
      spec: { description: 'bench', metadata, region: 'eu' },
    });
  return text('x'.repeat(bytes - text('').length));
}

export type Send = (method: 'POST' | 'PATCH' | 'GET', path: string, body: string) => Promise<void>;

/** Sends requests over eight kept connections; rejects when one is refused. */
export function sender({ url, token }: Pick<KubeProcess, 'url' | 'token'>): { send: Send; close(): Promise<void> } {
  const pool = new Pool(url, { connections: 8, connect: { rejectUnauthorized: false } });
  const send: Send = async (method, path, body) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': type };
    const response = await pool.request({ method, path, headers, ...(method === 'GET' ? {} : { body }) });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${text.slice(0, 300)}`);
  };
  return { send, close: () => pool.close() };
}

/** Creates `count` custom resources of `bytes` each. */
export async function fill(send: Send, count: number, bytes: number, prefix = 'bench'): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await send('POST', addresses, customResource(`${prefix}-${next++}`, bytes));
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

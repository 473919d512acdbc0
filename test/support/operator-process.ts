import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { main } from './main.ts';
import { until } from './until.ts';

export interface OperatorProcess {
  /** Everything it logged so far. */
  logs(): string;
  /** Base address of the metrics and of the health server. */
  url(of: 'metrics' | 'health'): Promise<string>;
  /** Resolves when it is ready. */
  ready(): Promise<void>;
  /** What it serves as metrics; nothing when it does not run. */
  metrics(): Promise<string>;
  /** The API key from now on. */
  writeKey(key: string): void;
  signal(name: NodeJS.Signals): void;
  /** Resolves with the exit code, or the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>;
  /** SIGTERM (or SIGKILL), and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

export interface OperatorOptions {
  readonly kubeconfig: string;
  readonly apiURL: string;
  readonly apiKey: string;
  readonly args?: readonly string[];
}

/** `edge-operator run` as a process of its own. */
export function startOperatorProcess(options: OperatorOptions): OperatorProcess {
  const dir = mkdtempSync(join(tmpdir(), 'edge-operator-test-'));
  const keyFile = join(dir, 'api-key');
  writeFileSync(keyFile, options.apiKey);
  const fixed = ['--kubeconfig', options.kubeconfig, '--api-url', options.apiURL, '--api-key-file', keyFile];
  const addresses = ['--metrics-addr', '127.0.0.1:0', '--health-addr', '127.0.0.1:0'];
  // So that no request is seen that the test did not cause.
  const quiet = ['--mirror-interval', '0', '--create-settle', '4s'];
  const child = spawn(process.execPath, [main, 'run', ...fixed, ...addresses, ...quiet, ...(options.args ?? [])], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: dir },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const exited = once(child, 'exit').then(([code, signal]) => {
    rmSync(dir, { recursive: true, force: true });
    return (code ?? signal) as number | NodeJS.Signals;
  });
  const served = (of: string) => new RegExp(`"serving ${of}".*?"url":"([^"]+)"`).exec(output)?.[1];
  const url = (of: string) => until(`the operator to serve ${of}`, () => served(of));
  return {
    logs: () => output,
    url,
    ready: async () => {
      const address = await url('health');
      await until('the operator to be ready', async () => (await fetch(`${address}/readyz`)).ok);
    },
    metrics: async () => {
      const address = served('metrics');
      if (address === undefined || child.exitCode !== null || child.signalCode !== null) return '';
      return (await fetch(`${address}/metrics`)).text();
    },
    writeKey: (key) => writeFileSync(keyFile, key),
    signal: (name) => child.kill(name),
    exited,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return exited;
    },
  };
}

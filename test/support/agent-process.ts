import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { main } from './main.ts';
import { until } from './until.ts';

export interface AgentProcess {
  /** Of the Local Agent API and the page. */
  readonly url: string;
  readonly edgeURL: string;
  /** Everything it logged so far. */
  logs(): string;
  /** SIGTERM (or another), and waits for the end: the exit code, or the signal that ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

/** `edge-operator agent`, or a command below it that runs one, as a process of its own; resolves when its API is up. */
export async function startAgentProcess(
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
  { openFiles }: { readonly openFiles?: number } = {},
): Promise<AgentProcess> {
  const webAddr = args.includes('--web-addr') ? [] : ['--web-addr', '127.0.0.1:0'];
  const bound = openFiles === undefined ? [] : ['sh', '-c', `ulimit -n ${openFiles} && exec "$@"`, 'sh'];
  const [command = '', ...rest] = [...bound, process.execPath, main, 'agent', ...args, ...webAddr];
  const child = spawn(command, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const exited = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  const line = await until('the agent to be up', () => {
    if (child.exitCode !== null) throw new Error(output);
    return /^Local Agent API .*$/m.exec(output)?.[0];
  });
  const [url = '', edgeURL = ''] = line.match(/http:\/\/[\da-f.:[\]]+/g) ?? [];
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return exited;
  };
  return { url, edgeURL, logs: () => output, stop };
}

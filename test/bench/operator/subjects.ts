import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleInto } from '../../../scripts/build.ts';
import { peer, pythonPeer } from '../../../scripts/tools.ts';
import { figuresOf, type ProcessFigures } from './figures.ts';
import type { Cloud, Kube } from './servers.ts';

/** Something that reconciles ReservedAddrs, as a process that ends with its scope. */
export interface Running extends AsyncDisposable {
  /** The end of what it said. */
  said(): string;
  figures(): Promise<ProcessFigures>;
  /** Throws where it has ended already. */
  stop(): Promise<void>;
}

export interface Subject {
  readonly name: 'floor' | 'operator' | 'peer' | 'kopf';
  /** @param count of resources that are not Ready yet */
  start(kube: Kube, cloud: Cloud, count: number): Promise<Running>;
}

/** The production image's program, bundled into `dir`, with the flags of the chart but for a budget that is never used up. */
export async function operator(dir: string): Promise<Subject> {
  await bundleInto(join(dir, 'dist'), 'image');
  const start = async (kube: Kube, cloud: Cloud) => {
    const key = join(dir, 'api-key');
    await writeFile(key, cloud.key);
    const flags = ['--kubeconfig', kube.kubeconfig, '--api-url', cloud.url, '--api-key-file', key];
    const quiet = ['--requests-per-minute', '100000', '--mirror-interval', '0', '--resync-interval', '1h'];
    const addresses = ['--metrics-addr', '127.0.0.1:0', '--health-addr', '127.0.0.1:0'];
    return run(process.execPath, [join(dir, 'dist/main.js'), 'run', ...flags, ...quiet, ...addresses]);
  };
  return { name: 'operator', start };
}

/** Only the calls that the job cannot do without. */
export const floor: Subject = {
  name: 'floor',
  start: async (kube, cloud, count) => {
    const servers = [kube.url, kube.token, cloud.url, cloud.key];
    return run(process.execPath, [join(import.meta.dirname, 'floor.ts'), ...servers, String(count), '16']);
  },
};

/** The same in the plainest way of controller-runtime, with as many workers. */
export async function controllerRuntime(): Promise<Subject> {
  const command = await peer('controller-runtime');
  return { name: 'peer', start: async (kube, cloud) => run(command, [kube.kubeconfig, cloud.url, cloud.key, '8']) };
}

/** And in that of kopf, with as many at a time as there are. */
export async function kopf(): Promise<Subject> {
  const [python, program] = await pythonPeer('kopf');
  return {
    name: 'kopf',
    start: async (kube, cloud) => run(python, [program, kube.kubeconfig, cloud.url, cloud.key]),
  };
}

function run(command: string, args: readonly string[]): Running {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (chunk) => {
    output = (output + chunk).slice(-20_000);
  });
  const checkRuns = () => {
    if (hasEnded(child)) throw new Error(`${command} ended:\n${output}`);
  };
  const end = async () => {
    if (hasEnded(child)) return;
    child.kill();
    await once(child, 'exit');
  };
  return {
    said: () => output.slice(-2_000),
    figures: async () => {
      checkRuns();
      return figuresOf(child.pid as number);
    },
    stop: () => {
      checkRuns();
      return end();
    },
    [Symbol.asyncDispose]: end,
  };
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

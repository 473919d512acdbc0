import { setFlagsFromString } from 'node:v8';
import { Command, Option } from 'commander';
import { UsageError } from '../common/usage.ts';
import { ApiError } from '../reference/kube-api/api-error.ts';
import { DataError } from '../reference/kube-api/store/data-error.ts';
import { announcements } from './announce.ts';
import { notEmpty, port as portOf, refusedAddress } from './flags.ts';
import { packageFile } from './package-files.ts';
import { stopSignal } from './stop-signal.ts';

interface Flags {
  readonly port: string;
  readonly kubeconfigOut?: string;
  readonly crds: string;
  readonly data?: string;
  readonly http?: boolean;
}

export function kubeCommand(): Command {
  return new Command('kube')
    .description('Run the embedded Kubernetes API: on loopback, for trying and tests only.')
    .option('--port <n>', 'port on 127.0.0.1; 0 takes a free one', '0')
    .option(
      '--kubeconfig-out <file>',
      'where to write a kubeconfig (default: a new file in the temporary folder, removed at the end)',
    )
    .addOption(
      new Option('--crds <dir>', 'folder of CustomResourceDefinitions to serve').default(
        packageFile('crds'),
        "the package's own",
      ),
    )
    .option('--data <dir>', 'folder where objects are kept from one start to the next (default: in memory only)')
    .option('--http', 'plain HTTP; kubectl sends no token over it and is refused, other clients must send it')
    .addHelpText('after', '\nExample:\n  edge-operator kube --port 6443 --kubeconfig-out kubeconfig')
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  const port = portOf(flags.port);
  const data = notEmpty('--data', flags.data);
  const kubeconfigOut = notEmpty('--kubeconfig-out', flags.kubeconfigOut);
  // V8 lets its nursery grow to 128 MB while requests come in, four times what 10,000 objects take.
  setFlagsFromString('--semi-space-growth-factor=1');
  const { mkdtemp, rm, writeFile } = await import('node:fs/promises');
  const { tmpdir } = await import('node:os');
  const { join, resolve } = await import('node:path');
  const { startKubeApi } = await import('../reference/kube-api/server.ts');
  const { http = false } = flags;
  const options = { port, http, crds: await readCrds(flags.crds), ...(data === undefined ? {} : { dataDir: data }) };
  const api = await startKubeApi(options).catch((error) => refused(error, port));
  let temporary: string | undefined;
  try {
    if (kubeconfigOut === undefined) {
      temporary = await mkdtemp(join(tmpdir(), 'edge-operator-kube-')).catch((error: NodeJS.ErrnoException) => {
        throw new UsageError(`--kubeconfig-out is needed: cannot make a folder in ${tmpdir()}: ${error.code}`);
      });
    }
    const file = resolve(kubeconfigOut ?? join(temporary ?? '', 'kubeconfig'));
    await writeFile(file, api.kubeconfig(), { mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(`--kubeconfig-out: cannot write ${file}: ${error.code}`);
    });
    const stopped = stopSignal();
    announcements().write(`Kubernetes API on ${api.url}\nexport KUBECONFIG=${file}\n`);
    await stopped;
  } finally {
    await api.close();
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
  }
}

async function readCrds(dir: string): Promise<readonly object[]> {
  notEmpty('--crds', dir);
  const { loadCrds } = await import('../reference/kube-api/types/load-crds.ts');
  try {
    const crds = loadCrds(dir);
    if (crds.length === 0) throw new Error(`no YAML file in ${dir} holds a CustomResourceDefinition`);
    return crds;
  } catch (error) {
    throw new UsageError(`--crds: ${(error as Error).message}`);
  }
}

function refused(error: NodeJS.ErrnoException, port: number): never {
  refusedAddress(error, { host: '127.0.0.1', port });
  // A definition that cannot be served.
  if (error instanceof ApiError) throw new UsageError(`--crds: ${error.message}`);
  if (error instanceof DataError) throw new UsageError(`--data: ${error.message}`);
  throw error;
}

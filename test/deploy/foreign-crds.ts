import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';

interface Source {
  readonly module: string;
  readonly version: string;
  /** As Go's checksum database has it. */
  readonly sum: string;
  readonly files: readonly string[];
}

const flux = 'github.com/fluxcd';

/** Where Argo CD and Flux publish the definitions of their own kinds. */
const sources: readonly Source[] = [
  {
    module: 'github.com/argoproj/argo-cd/v3',
    version: 'v3.3.0',
    sum: 'h1:9UlruTd5cC/MyvorTXgAIblfZTy63MF5FYvvoAaUvwU=',
    files: ['manifests/crds/application-crd.yaml'],
  },
  {
    module: `${flux}/helm-controller`,
    version: 'v1.4.0',
    sum: 'h1:rkm8rmB6Na7eNc4pJOnvtXEaJ19iKluRtayHKjBxcUM=',
    files: ['config/crd/bases/helm.toolkit.fluxcd.io_helmreleases.yaml'],
  },
  {
    module: `${flux}/kustomize-controller`,
    version: 'v1.7.2',
    sum: 'h1:xmOWILtm9329M7MQCS/iCHXc2R+Xm9HjFSft9fh/PCA=',
    files: ['config/crd/bases/kustomize.toolkit.fluxcd.io_kustomizations.yaml'],
  },
  {
    module: `${flux}/source-controller`,
    version: 'v1.7.0',
    sum: 'h1:/fBgS4CSmT5Jj/fjQDF92y+pC3gst1GJjgNSzY8Ff9I=',
    files: [
      'config/crd/bases/source.toolkit.fluxcd.io_gitrepositories.yaml',
      'config/crd/bases/source.toolkit.fluxcd.io_ocirepositories.yaml',
    ],
  },
];

/** The definitions of Argo CD's and Flux's kinds, from the Go module proxy. */
export async function foreignCrds(): Promise<readonly object[]> {
  return (await Promise.all(sources.map(definitionsOf))).flat();
}

async function definitionsOf({ module, version, sum, files }: Source): Promise<readonly object[]> {
  const args = ['mod', 'download', '-json', `${module}@${version}`];
  const { stdout } = await promisify(execFile)('go', args, { cwd: tmpdir(), env: { ...process.env, GOFLAGS: '' } });
  const { Dir: dir, Sum: got } = JSON.parse(stdout) as { Dir: string; Sum: string };
  if (got !== sum) throw new Error(`${module}@${version} has the checksum ${got}, not ${sum}`);
  return files.map((file) => parse(readFileSync(join(dir, file), 'utf8')) as object);
}

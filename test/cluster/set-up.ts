import { execFile } from 'node:child_process';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundleInto } from '../../scripts/build.ts';
import setUpRun from '../support/set-up.ts';
import { clusterScripts, imageOf } from './scripts.ts';

const root = join(import.meta.dirname, '../..');

/** Before the first test: what every run has, and the image that the pods run, laid out from this checkout. */
export default async function setUp(): Promise<void> {
  await setUpRun();
  if (clusterScripts === undefined) {
    console.error('no cluster here (TEST_KUBE_CLUSTER), or not root: its tests are left out');
    return;
  }
  const run = String(process.env.TEST_RUN);
  const checkout = join(run, 'checkout');
  await mkdir(join(checkout, 'deploy'), { recursive: true });
  for (const path of ['package.json', 'LICENSE', 'crds', 'deploy/samples'])
    await cp(join(root, path), join(checkout, path), { recursive: true });
  await symlink(join(root, 'node_modules'), join(checkout, 'node_modules'));
  await bundleInto(join(checkout, 'dist'), 'image');
  await promisify(execFile)(join(clusterScripts, 'image'), [checkout, imageOf(run)]);
}

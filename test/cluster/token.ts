import { cpSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster, Release } from './cluster.ts';

/** Puts another token into the volume of the release's pod, as the kubelet does: a new folder, then one rename of a link. */
export async function renewToken({ dir, kubectl, podNames }: Cluster, release: Release): Promise<void> {
  const { name, namespace } = release;
  const [pod] = await podNames(release);
  const { uid } = JSON.parse(readFileSync(join(dir, 'pods', `${namespace}_${pod}.json`), 'utf8')) as { uid: string };
  const bound = ['--bound-object-kind=Pod', `--bound-object-name=${pod}`, `--bound-object-uid=${uid}`];
  const token = await kubectl('-n', namespace, 'create', 'token', `${name}-edge-operator`, ...bound);
  const volumes = join(dir, 'pods', uid, 'volumes');
  const access = readdirSync(volumes).find((volume) => volume.startsWith('kube-api-access-'));
  const volume = join(volumes, String(access));
  const fresh = '..renewed';
  cpSync(join(volume, '..data/'), join(volume, fresh), { recursive: true });
  writeFileSync(join(volume, fresh, 'token'), token.trim());
  symlinkSync(fresh, join(volume, '..data_renewed'));
  renameSync(join(volume, '..data_renewed'), join(volume, '..data'));
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Resources } from './resources.ts';
import { type Cloud, type Kube, startCloud, startKube } from './servers.ts';

const latencyMs = 5;

/** Both servers, fresh, and what the bench writes to them. */
export interface Stage extends AsyncDisposable {
  readonly kube: Kube;
  readonly cloud: Cloud;
  readonly resources: Resources;
}

export async function setStage(): Promise<Stage> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const kube = await startKube(folder);
  stack.defer(() => kube.stop());
  const cloud = await startCloud(latencyMs);
  stack.defer(() => cloud.stop());
  const resources = new Resources(kube, cloud);
  stack.defer(() => resources.close());
  const owned = stack.move();
  return { kube, cloud, resources, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

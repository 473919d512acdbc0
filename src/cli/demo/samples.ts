import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { definitions } from '../../operator/kinds/index.ts';
import type { KubeClient } from '../../operator/kube/client.ts';
import { type KubeObject, type ResourceType, secretType } from '../../operator/kube/types.ts';
import type { ManagedObject } from '../../operator/reconcile/resource/resource.ts';
import type { World } from './world.ts';

export interface Sample {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

/** The manifests of a folder, in the order of its file names. */
export async function readSamples(dir: string, namespace: string): Promise<readonly Sample[]> {
  const files = (await readdir(dir)).filter((name) => name.endsWith('.yaml')).sort();
  const texts = await Promise.all(files.map((name) => readFile(join(dir, name), 'utf8')));
  const objects = texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as KubeObject));
  return objects.flatMap((object) => {
    const type = definitions.find((definition) => definition.type.kind === object.kind)?.type;
    if (type === undefined) return [];
    return [{ type, object: { ...object, metadata: { ...object.metadata, namespace } } }];
  });
}

/** Samples that name addresses of a cluster name those of the demo instead. */
export function atHome({ type, object }: Sample, { agentURL, appAddr }: Pick<World, 'agentURL' | 'appAddr'>): Sample {
  const { spec } = object as ManagedObject;
  const specs: Readonly<Record<string, object>> = { Agent: { url: agentURL }, AgentTunnel: { ...spec, addr: appAddr } };
  return { type, object: { ...object, spec: specs[type.kind] ?? spec } as KubeObject };
}

/** What deploy/samples/cloudaccount.yaml refers to; a sample itself holds no secret. */
export function secretOf(key: string, namespace: string): Sample {
  const metadata = { name: 'staging-edge', namespace };
  return {
    type: secretType,
    object: { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { 'api-key': key } } as KubeObject,
  };
}

export function apply(client: KubeClient, { type, object }: Sample): Promise<KubeObject> {
  const patch = { type: 'apply', body: object, fieldManager: 'edge-operator-demo' } as const;
  return client.patch(type, object.metadata, patch);
}

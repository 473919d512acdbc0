import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { definitions } from '../kinds/index.ts';
import type { KubeObject, ResourceType } from '../kube/types.ts';

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

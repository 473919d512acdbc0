import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { isMap, type JsonMap } from '../json.ts';

/** Every CustomResourceDefinition in the YAML files of a folder. Throws when a file cannot be read or parsed. */
export function loadCrds(dir: string): readonly JsonMap[] {
  const files = readdirSync(dir).filter((name) => /\.ya?ml$/.test(name));
  return files.sort().flatMap((name) => definitionsIn(join(dir, name)));
}

function definitionsIn(file: string): readonly JsonMap[] {
  const documents = [...parseAllDocuments(readFileSync(file, 'utf8'))];
  const values: readonly unknown[] = documents.map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new Error(`${file}: ${error.message.split(':\n')[0]}`, { cause: error });
    return document.toJS();
  });
  return values.filter(isMap).filter((value) => value.kind === 'CustomResourceDefinition');
}

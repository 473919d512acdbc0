import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { makeFolder } from '../common/make-folder.ts';
import { UsageError } from '../common/usage.ts';
import { notEmpty } from './flags.ts';
import { print } from './print.ts';

interface File {
  readonly name: string;
  readonly text: string;
}

export function crdsCommand(): Command {
  return new Command('crds')
    .description('Print the CustomResourceDefinitions, or write them to a folder.')
    .option('--out <dir>', 'folder to write one file a kind to, instead of printing')
    .option('--check', 'write nothing; fail when the files in --out differ from what would be written', false)
    .addHelpText('after', '\nExample:\n  edge-operator crds | kubectl apply --server-side -f -')
    .action(run);
}

async function run(options: { out?: string; check: boolean }): Promise<void> {
  const out = notEmpty('--out', options.out);
  const { crdFile } = await import('../operator/kinds/crd.ts');
  const { definitions } = await import('../operator/kinds/index.ts');
  const files = definitions.map(crdFile);
  if (out === undefined) {
    if (options.check) throw new UsageError('--check needs --out <dir>, the folder to compare with');
    await print(files.map((file) => file.text).join('---\n'));
  } else if (options.check) {
    await check(out, files);
  } else {
    await write(out, files);
  }
}

async function write(dir: string, files: readonly File[]): Promise<void> {
  try {
    makeFolder(dir);
    await Promise.all(files.map((file) => writeFile(join(dir, file.name), file.text)));
  } catch (error) {
    throw new UsageError(`--out: ${(error as Error).message}`, { cause: error });
  }
}

async function check(dir: string, files: readonly File[]): Promise<void> {
  const wanted = new Map(files.map((file) => [file.name, file.text]));
  const found = await readdir(dir).catch(() => [] as string[]);
  const wrong = [...new Set([...wanted.keys(), ...found])];
  const texts = await Promise.all(wrong.map((name) => readFile(join(dir, name), 'utf8').catch(() => undefined)));
  const differing = wrong.filter((name, index) => texts[index] !== wanted.get(name)).sort();
  if (differing.length > 0) throw new Error(`not as generated: ${differing.join(', ')}; run: npm run generate`);
}

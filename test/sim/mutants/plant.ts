import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Defect } from './defects.ts';

const root = join(import.meta.dirname, '../../..');
const copied = ['src', 'test/sim', 'test/support', 'crds', 'package.json'];

/** The text with the defect. Throws unless its place is there exactly once. */
export function planted(text: string, { name, file, find, replace }: Defect): string {
  const parts = text.split(find);
  if (parts.length !== 2)
    throw new Error(`${name}: ${JSON.stringify(find)} stands ${parts.length - 1} times in ${file}`);
  return parts.join(replace);
}

/** A copy of the project with the defect, to be disposed of. */
export function plant(defect: Defect): { readonly dir: string } & Disposable {
  const dir = mkdtempSync(join(tmpdir(), 'defect-'));
  for (const path of copied) cpSync(join(root, path), join(dir, path), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'));
  const file = join(dir, 'src/operator', defect.file);
  writeFileSync(file, planted(readFileSync(file, 'utf8'), defect));
  return { dir, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) };
}

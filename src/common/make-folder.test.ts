import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makeFolder } from './make-folder.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'make-folder-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

const modeOf = (path: string) => statSync(path).mode & 0o777;

test('is made with what it stands in, of the same mode', () => {
  makeFolder(join(dir, 'a', 'b', 'c'), 0o700);
  expect(['a', 'a/b', 'a/b/c'].map((path) => modeOf(join(dir, path)))).toEqual([0o700, 0o700, 0o700]);
});

test('one that is there stays as it is, also behind a link', () => {
  makeFolder(join(dir, 'there'), 0o755);
  symlinkSync('there', join(dir, 'link'));
  for (const name of ['there', 'link']) makeFolder(join(dir, name), 0o700);
  expect(modeOf(join(dir, 'there'))).toBe(0o755);
  makeFolder(join(dir, 'link', 'below'));
  expect(existsSync(join(dir, 'there', 'below'))).toBe(true);
});

test('what is no folder is an error', () => {
  writeFileSync(join(dir, 'file'), '');
  expect(() => makeFolder(join(dir, 'file'))).toThrow('EEXIST');
  expect(() => makeFolder(join(dir, 'file', 'below'))).toThrow('EEXIST');
  symlinkSync('nowhere', join(dir, 'dangling'));
  expect(() => makeFolder(join(dir, 'dangling'))).toThrow('EEXIST');
});

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux.each(['/proc/x', '/proc/x/y'])('%s, where nobody can make one, is an error at once', (path) => {
  // In a process of its own: what never returns would take the test run with it.
  const script = `import('./src/common/make-folder.ts').then((m) => m.makeFolder('${path}'))`;
  const { stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8', timeout: 30_000 });
  expect(stderr).toContain("ENOENT: no such file or directory, mkdir '/proc/x'");
});

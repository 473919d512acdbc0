import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from '@jest/globals';

/** Whoever has read the README of the embedded Kubernetes API finds every file, and no file is more than a few pages. */
const room = join(import.meta.dirname, '../../src/reference/kube-api');
const readme = readFileSync(join(room, 'README.md'), 'utf8');
const files = readdirSync(room, { recursive: true, encoding: 'utf8' }).filter((file) => /(?<!\.test)\.ts$/.test(file));
const read = (file: string) => readFileSync(join(room, file), 'utf8');
const lines = (file: string) => read(file).split('\n').length - 1;

/** What the first column of the table names: files, and folders as `folder/*`. */
const named = [...readme.matchAll(/^\| (`.+?) \|/gm)].flatMap(([, cell = '']) =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
);

test('every file is in the table of the README once, and the table names no other', () => {
  const places = files.map((file) => (file.includes('/') ? `${dirname(file)}/*` : file));
  expect(named.toSorted()).toEqual([...new Set(places)].sort());
});

test('every arrow of the README is an import', () => {
  const ways = [...readme.matchAll(/^ {4}(\S.* -> .+)$/gm)].map(([, way = '']) =>
    way.split(' -> ').map((step) => `${step.replace(/ \(.*\)$/, '')}.ts`),
  );
  const arrows = ways.flatMap((way) => way.slice(1).map((to, index) => [way[index] ?? '', to] as const));
  expect(arrows.length).toBeGreaterThan(10);
  expect(arrows.filter(([from, to]) => !importsOf(from).includes(to))).toEqual([]);
});

function importsOf(file: string): readonly string[] {
  if (!existsSync(join(room, file))) return [];
  const found = [...read(file).matchAll(/ from '(\.[^']+)';/g)];
  return found.map(([, path = '']) => normalize(join(dirname(file), path)));
}

test('the code is as small as the README says', () => {
  const [, perFile, inAll] =
    /more than (\d+) lines, all of them no more than (\d+)/.exec(readme.replaceAll('\n', ' ')) ?? [];
  expect(files.filter((file) => lines(file) > Number(perFile))).toEqual([]);
  expect(files.reduce((sum, file) => sum + lines(file), 0)).toBeLessThanOrEqual(Number(inAll));
  expect(lines('README.md')).toBeLessThanOrEqual(60);
});

test('it stands alone but for time, chance, ids and the making of its files', () => {
  const outside = files.flatMap(importsOf).filter((path) => path.startsWith('..'));
  const allowed = ['clock', 'dated', 'make-folder', 'private-file', 'random-id', 'runtime'];
  const given = allowed.map((name) => `../../common/${name}.ts`);
  expect([...new Set(outside)].sort()).toEqual(given);
});

/**
 * Measures the structure of a checkout: `node scripts/measure.ts [DIR] [--rooms a,b,...]`. Rooms are the entries at the
 * root of src, those of `--rooms` opened into what they hold; an arrow is a room that imports another. Code is what is
 * neither a test nor a fixture. Where docs/architecture.md follows a create ("From the queue to the POST"), the files
 * and names of that way are counted too.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rooms: { type: 'string', default: 'operator,operator/kinds,reference' } },
});
const root = positionals[0] ?? join(import.meta.dirname, '..');
const src = join(root, 'src');
const opened = values.rooms.split(',');

const filesOf = (dir: string) =>
  existsSync(dir)
    ? readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((path) => statSync(join(dir, path)).isFile())
    : [];
const isCode = (path: string) => /\.ts$/.test(path) && !/\.(test|fixture)\.ts$/.test(path);
const textOf = (path: string) => readFileSync(path, 'utf8');
const linesOf = (path: string) => textOf(path).split('\n').length - 1;
const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

function roomOf(path: string): string {
  const [first = '', ...rest] = path.split('/');
  let room = first;
  while (opened.includes(room) && rest.length > 1) room += `/${rest.shift()}`;
  return room;
}

const code = filesOf(src).filter(isCode);
const imports = code.flatMap((from) =>
  [...textOf(join(src, from)).matchAll(/(?:from|import\()\s*'(\.{1,2}\/[^']+)'/g)].map(([, path = '']) => ({
    from: roomOf(from),
    to: roomOf(normalize(relative(src, join(src, dirname(from), path)))),
  })),
);
const outward = imports.filter(({ from, to }) => from !== to && !to.startsWith('..'));
const arrows = [...new Set(outward.map(({ from, to }) => `${from} -> ${to}`))].sort();

/** The list under the heading: each item names a file and what is to be known of it. */
function tour(): { files: readonly string[]; names: number } {
  const page = join(root, 'docs/architecture.md');
  const text = existsSync(page) ? textOf(page) : '';
  const [, list = ''] = /## From the queue to the POST\n(.*?)(?=\n## |$)/s.exec(text) ?? [];
  const items = list.split('\n').filter((line) => /^\d+\. /.test(line));
  const named = items.map((item) => [...item.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
  const files = named.flatMap((names) => names.filter((name) => name.endsWith('.ts')));
  return { files, names: new Set(named.flat().filter((name) => !name.endsWith('.ts'))).size };
}

const way = tour();
const tests = filesOf(join(root, 'test'));
console.log(
  JSON.stringify(
    {
      entriesOfSrc: readdirSync(src).length,
      rooms: new Set(code.map(roomOf)).size,
      arrows: arrows.length,
      codeFiles: code.length,
      codeLines: sum(code.map((path) => linesOf(join(src, path)))),
      filesUnderTest: tests.length,
      createFiles: way.files.length,
      createLines: sum(way.files.map((path) => linesOf(join(root, path)))),
      createNames: way.names,
      arrowsBetween: arrows,
    },
    undefined,
    2,
  ),
);

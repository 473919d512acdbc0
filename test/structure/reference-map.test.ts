import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const docs = join(import.meta.dirname, '../../docs');
const page = readFileSync(join(docs, 'reference-map.md'), 'utf8');

interface Row {
  readonly name: string;
  readonly server: readonly Named[];
  readonly client: readonly Named[];
}

/** A test, group of tests or case, by its title in its file. */
interface Named {
  readonly file: string;
  readonly title: string;
}

const namedIn = (cell: string): Named[] =>
  [...cell.matchAll(/\[[\w-]+\]\(([^)]+)\): (.+?)(?=<br>|$)/g)].map(([, file = '', title = '']) => ({ file, title }));

const rows: readonly Row[] = [...page.matchAll(/^\| (.+?) \| (.+?) \| (.+) \|$/gm)]
  .filter(([, name]) => name !== 'Row')
  .map(([, name = '', server = '', client = '']) => ({ name, server: namedIn(server), client: namedIn(client) }));

const source = (file: string): string => readFileSync(join(docs, file), 'utf8');

/** A title stands first in a call or in a row of a table of cases. */
function isTitle({ file, title }: Named): boolean {
  const quoted = title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`[([]\\s*(['"\`])${quoted}\\1`).test(source(file));
}

test('every test that the map names exists', () => {
  const named = rows.flatMap(({ server, client }) => [...server, ...client]);
  expect(named.length).toBeGreaterThan(200);
  expect(named.filter((one) => !isTitle(one))).toEqual([]);
});

test('every row has a test of the server, and its client column says something', () => {
  expect(rows.filter(({ server }) => server.length === 0)).toEqual([]);
  expect(rows.filter(({ name, client }) => client.length === 0 && !name.startsWith('ids '))).toEqual([]);
});

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, { readonly properties: object }>> };
}

const document: Document = JSON.parse(source('openapi.json'));

test('every operation has one row and no other has', () => {
  const operations = Object.entries(document.paths).flatMap(([path, { parameters: _, ...methods }]) =>
    Object.keys(methods).map((method) => `\`${method.toUpperCase()} ${path}\``),
  );
  const listed = rows.map(({ name }) => name).filter((name) => /^`[A-Z]+ \//.test(name));
  expect(listed.toSorted()).toEqual(operations.toSorted());
});

test('every field of every answer and request has a row, and the tests named there speak of it', () => {
  const fields = Object.entries(document.components.schemas)
    .filter(([schema]) => !/List$|^Ref$|^Error$/.test(schema))
    .flatMap(([schema, { properties }]) => Object.keys(properties).map((field) => ({ schema, field })));
  expect(fields.length).toBeGreaterThan(60);
  const unheld = fields.filter(({ schema, field }) => !isHeld(schema, field));
  expect(unheld).toEqual([]);
});

/** A field of a request stands with that of the answer when there is one. */
function isHeld(schema: string, field: string): boolean {
  const answer = schema.replace(/(Create|Update|Request)$/, '');
  const row = rows.find(({ name }) => name === `\`${schema}.${field}\`` || name === `\`${answer}.${field}\``);
  return row?.server.some(({ file }) => source(file).includes(field)) ?? false;
}

import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '../..');
const textOf = (path: string) => readFileSync(join(root, path), 'utf8');

const sources = globSync('{src,test,scripts}/**/*.{ts,js,css,html,sh}', { cwd: root });
const pages = globSync(['README.md', 'docs/**/*.md', 'src/**/*.md'], { cwd: root });

const documents: Readonly<Record<string, string>> = {
  'Cloud Management API': 'docs/reference/cloud-management-api.md',
  'Local Agent API': 'docs/reference/local-agent-api.md',
};

/** The rules of each numbered section. */
function sectionsOf(page: string): ReadonlyMap<number, ReadonlySet<number>> {
  const [, ...sections] = textOf(page).split(/^## (?=\d+\. )/m);
  return new Map(
    sections.map((section) => [
      Number.parseInt(section, 10),
      new Set([...section.matchAll(/^(\d+)\. /gm)].slice(1).map(([, rule]) => Number(rule))),
    ]),
  );
}

/** Without what begins a line of a comment, so that a citation may go over the end of a line. */
const unwrapped = (text: string) => text.replace(/\s*\n\s*(?:\/?\*+|\/\/|>)?\s*/g, ' ');

const numbers = (text = '') => [...text.matchAll(/\d+/g)].map(([number]) => Number(number));
const list = String.raw`\d+(?:(?:, | and |, and )\d+)*`;
const citation = new RegExp(`(${Object.keys(documents).join('|')}), sections? (${list})(?:, rules? (${list}))?`, 'g');

interface Citation {
  readonly path: string;
  readonly text: string;
  readonly missing: boolean;
}

function citationsIn(path: string): Citation[] {
  return [...unwrapped(textOf(path)).matchAll(citation)].map(([text, document = '', cited, rules]) => {
    const sections = sectionsOf(documents[document] ?? '');
    const asked = numbers(cited);
    const held = sections.get(asked.at(-1) ?? 0);
    return {
      path,
      text,
      missing: asked.some((section) => !sections.has(section)) || numbers(rules).some((rule) => !held?.has(rule)),
    };
  });
}

test('every section and rule of an API that is cited is there', () => {
  const citations = [...sources, ...pages].flatMap(citationsIn);
  expect(citations.length).toBeGreaterThan(40);
  expect(citations.filter(({ missing }) => missing)).toEqual([]);
});

test('the documents have nine sections each, and rules in the fourth', () => {
  const rules = Object.values(documents).map((page) =>
    [...sectionsOf(page)].map(([number, held]) => [number, held.size]),
  );
  const counts = (ofFourth: number) =>
    [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => [number, number === 4 ? ofFourth : 0]);
  expect(rules).toEqual([counts(5), counts(3)]);
});

/** The comments of a source: lines that are nothing else, and what follows code after two slashes. */
function commentsOf(path: string): string {
  const lines = textOf(path).split('\n');
  return lines.flatMap((line) => /^\s*(\/?\*.*|\/\/.*)|\s\/\/ .*/.exec(line)?.[0] ?? []).join('\n');
}

test('no comment cites a section without saying of what', () => {
  const bare = sources.flatMap((path) => {
    const comments = unwrapped(commentsOf(path));
    const known = comments.replace(citation, '').replace(/RFC \d+, sections? [\d.]+/g, '');
    return [...known.matchAll(/(?:\S+ ){0,3}\bsections? \d\S*|\b(?:design|reference),? \(?sections?\b/gi)].map(
      ([text]) => `${path}: ${text}`,
    );
  });
  expect(bare).toEqual([]);
});

test('no text names a section of a design', () => {
  const naming = [...sources, ...pages].filter((path) => /design sections? \d/i.test(unwrapped(textOf(path))));
  expect(naming).toEqual([]);
});

const folders = 'src|test|scripts|docs|deploy|charts|crds|\\.ci|\\.github';

/** Of `a/{b,c}` too; `<kind>` stands for any name. */
function isThere(path: string): boolean {
  const pattern = path.replace(/<[^>]*>/g, '*');
  return /[*{?]/.test(pattern) ? globSync(pattern, { cwd: root }).length > 0 : existsSync(join(root, pattern));
}

test('every path that a page names is there', () => {
  const named = pages.flatMap((page) =>
    [...textOf(page).matchAll(new RegExp(`\`((?:${folders})(?:/[^\`\\s]*)?)\``, 'g'))].map(([, path = '']) => ({
      page,
      path,
    })),
  );
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter(({ path }) => !isThere(path))).toEqual([]);
});

test('every path that a comment names is there', () => {
  const named = sources.flatMap((source) =>
    [
      ...commentsOf(source).matchAll(/(?<![\w/.-])(?:src|test|scripts|docs|deploy|charts|crds)\/[\w./*<>-]*[\w*>]/g),
    ].map(([path]) => ({ source, path })),
  );
  expect(
    named.filter(({ source, path }) => !isThere(path) && !isThere(normalize(join(dirname(source), path)))),
  ).toEqual([]);
});

test('every source that a page names, also by the end of its path, is there', () => {
  const named = pages.flatMap((page) =>
    [...textOf(page).matchAll(/`([\w-][\w./-]*\.ts)`/g)].map(([, path = '']) => ({ page, path })),
  );
  expect(named.length).toBeGreaterThan(20);
  const everywhere = sources.map((source) => `/${source}`);
  expect(named.filter(({ path }) => !everywhere.some((source) => source.endsWith(`/${path}`)))).toEqual([]);
});

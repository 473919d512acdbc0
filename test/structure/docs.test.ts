import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Command } from 'commander';
import { parse } from 'yaml';
import { problems } from '../../src/agent/problem.ts';
import { commands } from '../../src/cli/index.ts';
import { productionCommands } from '../../src/cli/production.ts';
import { loadCommands } from '../../src/cli/program.ts';
import { annotation } from '../../src/operator/reconcile/resource/annotations.ts';
import { reasons } from '../../src/operator/reconcile/status/reasons.ts';

/** What the docs name of other programs. */
const foreignFlags = ['--build-arg', '--reuse-values'];

const root = join(import.meta.dirname, '../..');
const pages = globSync(['*.md', '{docs,src,charts,deploy,test}/**/*.md'], { cwd: root });
const textOf = (page: string) => readFileSync(join(root, page), 'utf8');

const withSubcommands = (command: Command): readonly Command[] => [
  command,
  ...command.commands.flatMap(withSubcommands),
];

/** `agent tunnels start`; what follows a command that has none below it are arguments. */
function isCommand(words: string, commands: readonly Command[]): boolean {
  const [first, ...rest] = words.split(' ');
  const command = commands.find((each) => each.name() === first);
  if (command === undefined || rest.length === 0 || command.commands.length === 0) return command !== undefined;
  return isCommand(rest.join(' '), command.commands);
}

/** As GitHub makes them of headings. */
function anchors(page: string): readonly string[] {
  const headings = [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('every link between files leads to one that is there, and to a heading in it', () => {
  const links = pages.flatMap((page) =>
    [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, to = '']) => ({ page, to })),
  );
  const here = links.filter(({ to }) => !/^https?:/.test(to));
  expect(here.length).toBeGreaterThan(50);
  const dead = here.filter(({ page, to }) => {
    const [path = '', anchor] = to.split('#');
    const target = path === '' ? page : normalize(join(dirname(page), path));
    return !existsSync(join(root, target)) || (anchor !== undefined && !anchors(target).includes(anchor));
  });
  expect(dead).toEqual([]);
});

/** Of `npm run sim` and its like. */
function simulatorFlags(): readonly string[] {
  const files = ['search/flags.ts', 'crash-map/flags.ts', 'year.ts', 'defects.ts'];
  const options = files.flatMap((file) => [...textOf(`test/sim/${file}`).matchAll(/\b([a-z]+): \{ type: '/g)]);
  return options.map(([, name]) => `--${name}`);
}

test('every flag, variable, command and script that the docs name is there', async () => {
  const top = await loadCommands(commands);
  const options = top.flatMap(withSubcommands).flatMap((command) => command.options);
  const known = {
    flags: new Set([
      '--help',
      '--version',
      ...foreignFlags,
      ...simulatorFlags(),
      ...options.flatMap(({ long }) => long ?? []),
    ]),
    variables: new Set(['EDGE_OPERATOR_API_KEY', ...options.flatMap(({ envVar }) => envVar ?? [])]),
    scripts: new Set(Object.keys(JSON.parse(textOf('package.json')).scripts)),
  };
  const unknown = pages.flatMap((page) => {
    const text = textOf(page);
    const named = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name);
    return [
      ...named(/`(--[a-z][a-z-]+)[ =<`]/g).filter((flag) => !known.flags.has(flag)),
      ...named(/\b(EDGE_OPERATOR_[A-Z_]*[A-Z])\b/g).filter((variable) => !known.variables.has(variable)),
      ...named(/(?:npm start --|`edge-operator) ([a-z]+(?: [a-z]+)*)/g).filter((words) => !isCommand(words, top)),
      ...named(/`(agent [a-z]+(?: [a-z]+)*)/g).filter((words) => !isCommand(words, top)),
      ...named(/npm run (?:-s )?([a-z:]+)/g).filter((script) => !known.scripts.has(script)),
    ].map((name) => `${page}: ${name}`);
  });
  expect(unknown).toEqual([]);
});

test('every setting of the chart that the docs name is there', () => {
  const { settings } = JSON.parse(textOf('charts/edge-operator/values.schema.json')).properties;
  const named = pages.flatMap((page) =>
    [...textOf(page).matchAll(/\bsettings\.([A-Za-z]+)/g)].map(([, name = '']) => ({ page, name })),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter(({ name }) => !Object.hasOwn(settings.properties, name))).toEqual([]);
});

test('what is piped from npm is without the lines that npm itself prints', () => {
  const piped = pages.flatMap((page) =>
    [...textOf(page).matchAll(/npm (?:start|run) (?!-s )[^`\n]*? [|>] /g)].map(([command]) => `${page}: ${command}`),
  );
  expect(piped).toEqual([]);
});

test('docs/release.md names every command of the image', () => {
  const [, held = ''] =
    /^It holds what runs in production: (.*?)\. The reference/ms.exec(textOf('docs/release.md')) ?? [];
  expect([...productionCommands.keys()].filter((name) => !held.includes(`\`${name}\``))).toEqual([]);
});

test('every annotation is in the docs', () => {
  const text = `${textOf('README.md')}${textOf('docs/gitops.md')}`;
  const names = Object.values(annotation);
  expect(names.filter((name) => !text.includes(`\`${name}`))).toEqual([]);
});

test('docs/conditions.md has a row for every reason, and for no other', () => {
  const rows = [...textOf('docs/conditions.md').matchAll(/^\| `(\w+)` \|/gm)].map(([, reason = '']) => reason);
  expect(new Set(rows)).toEqual(new Set(reasons));
});

test('docs/agent.md has a row for every error number, and for no other', () => {
  const rows = [...textOf('docs/agent.md').matchAll(/^\| (\d{3}) \| (\d{3}) \|/gm)].map(([, ...numbers]) => numbers);
  expect(rows).toEqual(Object.values(problems).map(({ number, status }) => [String(number), String(status)]));
});

test('the docs name values of the chart by their whole path', () => {
  const values = pathsOf(parse(textOf('charts/edge-operator/values.yaml')));
  const fields = new Set(values.filter((path) => path.includes('.')).map(lastOf));
  const named = ['README.md', ...globSync('docs/*.md', { cwd: root })].flatMap((page) =>
    [...textOf(page).matchAll(/`([a-z][a-zA-Z]*(?:\.[a-zA-Z]+)+)`/g)].map(([, name = '']) => ({ page, name })),
  );
  const ofValues = named.filter(({ name }) => fields.has(lastOf(name)) && !/^(spec|settings)\./.test(name));
  expect(ofValues.length).toBeGreaterThan(20);
  expect(ofValues.filter(({ name }) => !values.includes(name))).toEqual([]);
});

const lastOf = (path: string) => path.split('.').at(-1) ?? '';

function pathsOf(value: unknown, above = ''): readonly string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([key, below]) => [above + key, ...pathsOf(below, `${above}${key}.`)]);
}

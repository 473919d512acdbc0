import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { expect, test } from '@jest/globals';

const src = join(import.meta.dirname, '../../src');

/** For each room the rooms it may import from; itself is always allowed. docs/architecture.md says why. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  common: [],
  /** A room of its own so that the operator, which serves no API, never loads a server's framework. */
  'common/http-server': ['common'],
  'operator/kube': ['common'],
  'operator/controller': ['operator/kube', 'common'],
  'operator/reconcile': ['operator/controller', 'operator/kube', 'common'],
  'operator/cloud': ['common'],
  'operator/agent-client': ['common'],
  'operator/metrics': ['common'],
  'operator/mirror': ['operator/cloud', 'operator/controller', 'operator/kube', 'common'],
  'operator/kinds/cloud': ['operator/reconcile', 'operator/cloud', 'operator/mirror', 'common'],
  'operator/kinds/agents': ['operator/reconcile', 'operator/agent-client', 'common'],
  'operator/kinds': ['operator/kinds/cloud', 'operator/kinds/agents', 'operator/reconcile'],
  'operator/doctor': [
    'operator',
    'operator/kinds',
    'operator/kinds/cloud',
    'operator/reconcile',
    'operator/controller',
    'operator/cloud',
    'operator/kube',
    'common',
  ],
  operator: [
    'operator/kinds',
    'operator/kinds/cloud',
    'operator/kinds/agents',
    'operator/metrics',
    'operator/reconcile',
    'operator/controller',
    'operator/kube',
    'common',
  ],
  agent: ['common/http-server', 'common'],
  'reference/cloud-api': ['common/http-server', 'common'],
  'reference/kube-api': ['common'],
  cli: [
    'operator',
    'operator/doctor',
    'operator/kinds',
    'operator/reconcile',
    'operator/kube',
    'operator/agent-client',
    'agent',
    'reference/cloud-api',
    'reference/kube-api',
    'common',
  ],
  'main.ts': ['cli'],
  'image.ts': ['cli'],
  'image-run.ts': ['cli'],
};

/** The longest path of the table that holds the file. */
function roomOf(path: string): string {
  const rooms = Object.keys(allowed).filter((room) => path === room || path.startsWith(`${room}/`));
  return rooms.toSorted((a, b) => b.length - a.length)[0] ?? path;
}

function sources(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !/\.(?:test|fixture)\.ts$/.test(path),
  );
}

interface Import {
  readonly from: string;
  readonly to: string;
}

function importsOf(path: string): Import[] {
  const text = readFileSync(join(src, path), 'utf8');
  const specifiers = [...text.matchAll(/(?:from|import\()\s*'(\.{1,2}\/[^']+)'/g)].map((match) => match[1] ?? '');
  return specifiers
    .map((specifier) => normalize(relative(src, join(src, dirname(path), specifier))))
    .filter((target) => !target.startsWith('..'))
    .map((to) => ({ from: path, to }));
}

const imports = sources(src).flatMap(importsOf);

test('there is something to check', () => expect(imports.length).toBeGreaterThan(50));

test('imports run one way', () => {
  const wrong = imports.filter(({ from, to }) => {
    const [here, there] = [roomOf(from), roomOf(to)];
    return here !== there && !(allowed[here] ?? []).includes(there);
  });
  expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
});

test('what stands by for tests is imported by nothing else', () => {
  expect(imports.filter(({ to }) => /\.(?:test|fixture)\.ts$/.test(to))).toEqual([]);
});

test('kinds never import each other', () => {
  const kind = (path: string) => {
    const folder = /^operator\/kinds\/(?:cloud|agents)\/[^/]+/.exec(path)?.[0];
    return folder !== undefined && existsSync(join(src, folder, 'kind.ts')) ? folder : undefined;
  };
  const wrong = imports.filter(({ from, to }) => kind(from) && kind(to) && kind(from) !== kind(to));
  expect(wrong).toEqual([]);
});

test('only the adapters know client-node and prom-client', () => {
  const users = (name: string) =>
    sources(src).filter((path) => readFileSync(join(src, path), 'utf8').includes(`'${name}'`));
  expect(users('@kubernetes/client-node').every((path) => path.startsWith('operator/kube/'))).toBe(true);
  expect(users('prom-client').every((path) => path.startsWith('operator/metrics/'))).toBe(true);
});

test('units that ask a Kubernetes API are among those that ask a real one', () => {
  const all = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const asking = all.filter((path) => readFileSync(join(src, path), 'utf8').includes("test/support/kube-api.ts'"));
  const config = readFileSync(join(src, '../jest.scenarios.config.js'), 'utf8');
  const roots = [...config.matchAll(/'<rootDir>\/src\/([^']+)'/g)].map(([, root]) => root);
  expect(asking.length).toBeGreaterThan(1);
  expect(asking.filter((path) => !roots.includes(dirname(path)))).toEqual([]);
});

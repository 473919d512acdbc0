import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { expect, test } from '@jest/globals';

const src = join(import.meta.dirname, '../../src');

/** For each room the rooms it may import from; itself is always allowed. docs/architecture.md says why. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  'clock.ts': [],
  'version.ts': [],
  'usage.ts': [],
  'table.ts': [],
  'listen.ts': [],
  'yaml.ts': [],
  'package-files.ts': [],
  telemetry: ['listen.ts'],
  credential: ['clock.ts', 'telemetry', 'usage.ts'],
  http: [],
  cloud: ['http'],
  'agent-client': ['http'],
  kube: ['clock.ts', 'telemetry', 'yaml.ts'],
  controller: ['kube', 'clock.ts', 'telemetry'],
  reconcile: ['controller', 'kube', 'clock.ts', 'telemetry'],
  kinds: ['reconcile', 'controller', 'kube', 'cloud', 'agent-client', 'clock.ts', 'telemetry', 'yaml.ts'],
  accounts: ['credential', 'mirror', 'kinds', 'reconcile', 'controller', 'kube', 'cloud', 'clock.ts', 'telemetry'],
  agents: ['agent-client', 'kinds', 'reconcile', 'controller', 'kube', 'clock.ts'],
  mirror: ['controller', 'kube', 'cloud', 'clock.ts', 'telemetry'],
  agent: ['credential', 'clock.ts', 'telemetry', 'listen.ts', 'usage.ts', 'yaml.ts'],
  crdgen: ['kinds', 'kube'],
  'config.ts': ['listen.ts', 'usage.ts'],
  'operator.ts': [
    'operator',
    'accounts',
    'credential',
    'controller',
    'kube',
    'clock.ts',
    'telemetry',
    'config.ts',
    'version.ts',
    'usage.ts',
  ],
  operator: [
    'accounts',
    'agents',
    'agent-client',
    'credential',
    'kinds',
    'reconcile',
    'controller',
    'kube',
    'cloud',
    'telemetry',
    'config.ts',
    'listen.ts',
    'version.ts',
    'usage.ts',
  ],
  'reference/cloud-api': ['clock.ts', 'yaml.ts'],
  'reference/kube-api': ['clock.ts'],
  demo: [
    'operator.ts',
    'agent',
    'agent-client',
    'credential',
    'mirror',
    'reconcile',
    'kinds',
    'kube',
    'reference/cloud-api',
    'reference/kube-api',
    'config.ts',
    'package-files.ts',
    'table.ts',
    'clock.ts',
    'telemetry',
    'version.ts',
  ],
  commands: [
    'listen.ts',
    'package-files.ts',
    'operator.ts',
    'demo',
    'agent',
    'agent-client',
    'credential',
    'kinds',
    'crdgen',
    'kube',
    'reference/cloud-api',
    'reference/kube-api',
    'config.ts',
    'table.ts',
    'usage.ts',
    'clock.ts',
    'telemetry',
    'version.ts',
  ],
  'main.ts': ['commands', 'usage.ts', 'version.ts'],
};

function roomOf(path: string): string {
  const [first = '', second] = path.split('/');
  return first === 'reference' ? `${first}/${second}` : first;
}

function sources(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.endsWith('.test.ts'),
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

test('kinds never import each other', () => {
  const kind = (path: string) => /^kinds\/([^/]+)\//.exec(path)?.[1];
  const wrong = imports.filter(({ from, to }) => kind(from) && kind(to) && kind(from) !== kind(to));
  expect(wrong).toEqual([]);
});

test('only the adapters know client-node and prom-client', () => {
  const users = (name: string) =>
    sources(src).filter((path) => readFileSync(join(src, path), 'utf8').includes(`'${name}'`));
  expect(users('@kubernetes/client-node').every((path) => path.startsWith('kube/'))).toBe(true);
  expect(users('prom-client').every((path) => path.startsWith('telemetry/'))).toBe(true);
});

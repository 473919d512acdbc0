import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { tool } from '../../scripts/tools.ts';
import { projectDir } from './image.ts';

/* The workflows of GitHub: what can be known of them without running them there. */

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

interface Workflow {
  readonly permissions: unknown;
  readonly env?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<
    Record<string, { uses?: string; permissions?: object; 'timeout-minutes'?: number; steps?: Step[] }>
  >;
}

const dir = join(projectDir, '.github/workflows');
const files = readdirSync(dir);
const text = (file: string) => readFileSync(join(dir, file), 'utf8');
const workflow = (file: string): Workflow => parse(text(file));
const scripts = (file: string) =>
  Object.values(workflow(file).jobs).flatMap(({ steps = [] }) => steps.flatMap(({ run }) => run ?? []));

test('actionlint finds nothing', async () => {
  const paths = files.map((file) => join(dir, file));
  await promisify(execFile)(await tool('actionlint'), ['-no-color', ...paths]).catch((error) => {
    throw new Error(error.stdout || String(error));
  });
}, 300_000);

describe.each(files)('%s', (file) => {
  test('takes every action at a commit, and says which version that is', () => {
    const used = [...text(file).matchAll(/uses: (.+)$/gm)].map(([, name = '']) => name);
    const foreign = used.filter((name) => !name.startsWith('./'));
    expect(foreign.length).toBeGreaterThan(0);
    expect(foreign.filter((name) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(name))).toEqual([]);
  });

  test('may only read, unless a job says otherwise; every job ends some time', () => {
    const { permissions, jobs } = workflow(file);
    expect(permissions).toEqual({ contents: 'read' });
    for (const { uses, 'timeout-minutes': minutes } of Object.values(jobs)) expect(uses ?? minutes).toBeDefined();
  });

  test('no script has an expression in it: values come as variables', () => {
    expect(scripts(file).filter((script) => script.includes('${{'))).toEqual([]);
  });
});

describe('a release', () => {
  const all = scripts('release.yaml').join('\n');

  test('comes after every check', () => {
    const { jobs } = workflow('release.yaml');
    expect(Object.keys(jobs)).toEqual(['check', 'publish']);
    expect(jobs.check?.uses).toBe('./.github/workflows/ci.yaml');
    expect(scripts('ci.yaml')).toEqual(['.ci/run']);
  });

  test('publishes the image that the chart runs', () => {
    const values = parse(readFileSync(join(projectDir, 'charts/edge-operator/values.yaml'), 'utf8'));
    expect(workflow('release.yaml').env?.IMAGE).toBe(values.image.repository);
  });

  test('scans before it pushes, and signs by digest', () => {
    const steps = [
      '--exit-code 1',
      'docker login',
      '--push',
      'cosign sign --yes --recursive "$IMAGE@$DIGEST"',
      'gh release create',
    ];
    const places = steps.map((step) => all.indexOf(step));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places).not.toContain(-1);
    expect(all).toMatch(/--platform linux\/amd64,linux\/arm64/);
    expect(all).toMatch(/--sbom=true --provenance=mode=max/);
    expect(all).not.toMatch(/cosign sign [^\n]*:\$VERSION/);
  });

  test('makes the manifests that it attaches', () => {
    const [before = '', attached = ''] = all.split('gh release create');
    const [, made] = /install:yaml -- (\S+)/.exec(before) ?? [];
    expect(made).toBeDefined();
    expect(attached.split(/\s+/)).toContain(made);
  });
});

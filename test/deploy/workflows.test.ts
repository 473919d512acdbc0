import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { copyChart, install } from '../../scripts/deploy.ts';
import { tool } from '../../scripts/tools.ts';
import { version } from '../../src/common/version.ts';
import { only, render } from './helm.ts';
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

  const inOrder = (...steps: string[]) => {
    const places = steps.map((step) => all.indexOf(step));
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((a, b) => a - b));
  };

  test('builds once, scans and signs just that, and only then gives it a name', () => {
    expect(all.match(/docker (buildx )?build\b/g)).toHaveLength(1);
    expect(all).toMatch(/--platform linux\/amd64,linux\/arm64 \\\n *--output "[^"]*,push-by-digest=true,push=true"/);
    expect(all).toMatch(/--sbom=true --provenance=mode=max/);
    expect(all).not.toMatch(/cosign (sign|attest) [^\n]*:\$VERSION/);
    inOrder(
      'push-by-digest=true',
      '--exit-code 1 "$IMAGE@$DIGEST"',
      'cosign sign --yes --recursive "$IMAGE@$DIGEST"',
      '--tag "$IMAGE:$VERSION" "$IMAGE@$DIGEST"',
      'gh release create',
    );
  });

  test('scans every platform that it builds', () => {
    const built = /--platform (\S+,\S+)/.exec(all)?.[1]?.split(',');
    const scanned = /for platform in (.*); do\n[^\n]*"\$TRIVY" image(?:[^"]|"[^"]*")*--exit-code 1/.exec(all)?.[1];
    expect(scanned?.split(' ')).toEqual(built);
    expect(all).toMatch(/--platform "\$platform"/);
  });

  test("checks the signature of the Dockerfile's last base before it builds", () => {
    const [, program = ''] = /base=\$\(sed -n '(.*)' Dockerfile\)/.exec(all) ?? [];
    const base = execFileSync('sed', ['-n', program, join(projectDir, 'Dockerfile')], { encoding: 'utf8' }).trim();
    const from = readFileSync(join(projectDir, 'Dockerfile'), 'utf8').match(/^FROM (.*)$/gm);
    expect(`FROM ${base}`).toBe(from?.at(-1));
    inOrder('cosign verify "$', 'docker buildx build');
  });

  test('makes the manifests that it attaches', () => {
    const [before = '', attached = ''] = all.split('gh release create');
    const [, made] = /install:yaml -- (\S+)/.exec(before) ?? [];
    expect(made).toBeDefined();
    expect(attached.split(/\s+/)).toContain(made);
  });

  test('has manifests and a chart that name the image by its digest', async () => {
    expect(all).toMatch(/install:yaml -- \S+ --digest "\$DIGEST"/);
    expect(all).toMatch(/install:chart -- (\S+) --digest "\$DIGEST"\n.*\n.*"\$helm" package \1\n/);
    const digest = `sha256:${'a'.repeat(64)}`;
    const images = [...install(digest).matchAll(/^ *image: (.*)$/gm)].map(([, image]) => image);
    expect(images).toEqual([`ghcr.io/edge-operator/edge-operator:${version}@${digest}`]);
    const chart = join(mkdtempSync(join(tmpdir(), 'edge-operator-chart-')), 'edge-operator');
    copyChart(chart, digest);
    const { containers } = only(await render({}, { chart }), 'Deployment').spec.template.spec;
    rmSync(dirname(chart), { recursive: true });
    expect(containers[0].image).toBe(`ghcr.io/edge-operator/edge-operator@${digest}`);
  });
});

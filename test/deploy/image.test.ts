import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { chmod, chown, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestCloud } from '../support/cloud-api.ts';
import { kubeRequests, startTestKubeApi } from '../support/kube-api.ts';
import { until } from '../support/until.ts';
import { buildImage, type Dockerfile, outside, projectDir, readDockerfile } from './image.ts';

/* The image: its Dockerfile as BuildKit reads it, and the product started from nothing but what it puts there. */

const manifest = JSON.parse(readFileSync(join(projectDir, 'package.json'), 'utf8'));
const user = 65532;

let dockerfile: Dockerfile;
let root: string;
let home: string;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  dockerfile = await readDockerfile();
  const image = await buildImage(dockerfile);
  root = image.root;
  ends.push(image.remove);
  home = mkdtempSync(join(outside, 'edge-operator-image-tmp-'));
  ends.push(() => rmSync(home, { recursive: true, force: true }));
  if (process.getuid?.() === 0) await chown(home, user, user);
  await chmod(home, 0o777);
}, 600_000);
afterAll(async () => {
  for (const end of ends) await end();
});

const last = () => dockerfile.stages.at(-1)?.commands ?? [];
const argsOf = (name: string) => last().find((instruction) => instruction.name === name)?.args;

describe('the Dockerfile', () => {
  test('has nothing that the linter of BuildKit objects to', () => {
    expect(dockerfile.warnings).toEqual([]);
  });

  test('builds on the Node of package.json, and only the build needs one of its own platform', () => {
    expect(dockerfile.args).toEqual([`ARG NODE_IMAGE=node:${manifest.devDependencies.node}-bookworm-slim`]);
    expect(dockerfile.stages.map(({ base, platform }) => [base, platform])).toEqual([
      [`\${NODE_IMAGE}`, '$BUILDPLATFORM'],
      [`\${NODE_IMAGE}`, ''],
    ]);
    // Without RUN an image for another platform is made without emulation.
    expect(last().map(({ name }) => name)).not.toContain('RUN');
  });

  test('ends as a user without name and rights, and starts without a shell', () => {
    expect(argsOf('USER')).toEqual([`${user}:${user}`]);
    expect(last().find(({ name }) => name === 'ENTRYPOINT')?.shell).toBe(false);
    expect([argsOf('ENTRYPOINT'), argsOf('CMD')]).toEqual([['node', '/app/dist/main.js'], ['run']]);
  });

  test('labels the image as OCI has it', () => {
    const labels = (argsOf('LABEL') ?? []).map((label) => label.slice(0, label.indexOf('=')));
    const names = ['title', 'description', 'url', 'source', 'documentation', 'licenses', 'version', 'revision'];
    expect(labels).toEqual(names.map((name) => `org.opencontainers.image.${name}`));
  });

  test('sees no test, no history and nothing that was installed or built', () => {
    const tops = new Set(dockerfile.context.map((file) => file.split('/')[0]));
    expect([...tops].sort()).toEqual(
      ['.npmrc', 'LICENSE', 'package-lock.json', 'package.json', 'scripts', 'src', 'tsconfig.json'].sort(),
    );
    expect(dockerfile.context.filter((file) => /\.(test|fixture)\.ts$/.test(file))).toEqual([]);
    expect(dockerfile.context.filter((file) => /^src\/(reference|cli\/demo)\//.test(file))).toEqual([]);
  });
});

test('the image holds the bundle and what it reads, and nothing else', () => {
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length));
  const known = /^\/app\/(package\.json|LICENSE|dist\/(page\/)?[\w.-]+\.(js|css|html))$/;
  expect(files.filter((file) => !known.test(file))).toEqual([]);
  expect(files).toContain('/app/dist/main.js');
});

/** As the image's user, where that can be had, with the file system of the image and a temporary folder. */
function start(args: readonly string[]) {
  const [, entry = ''] = argsOf('ENTRYPOINT') ?? [];
  const id = process.getuid?.() === 0 ? { uid: user, gid: user } : {};
  const reachable = spawnSync(process.execPath, ['--version'], id).status === 0;
  const child = spawn(process.execPath, [join(root, entry), ...args], {
    cwd: join(root, '/app'),
    env: { NODE_ENV: 'production', HOME: '/', TMPDIR: home },
    ...(reachable ? id : {}),
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  return { child, output: () => output, exited: once(child, 'exit').then(([code]) => code as number | null) };
}

interface Bot {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

async function finish(...args: string[]) {
  const { output, exited } = start(args);
  return { code: await exited, output: output() };
}

describe('from the image alone', () => {
  test('--version', async () => {
    expect(await finish('--version')).toEqual({ code: 0, output: `${manifest.version}\n` });
  });

  test('run --help, and what run lacks here', async () => {
    const { code, output } = await finish('run', '--help');
    expect([code, output]).toEqual([0, expect.stringContaining('--leader-elect-namespace')]);
    expect(await finish('run', '--api-key-file', '/nowhere')).toMatchObject({ code: 2 });
  });

  test('crds prints every definition', async () => {
    const { code, output } = await finish('crds');
    const kinds = readdirSync(join(projectDir, 'crds'));
    expect([code, output.match(/^kind: CustomResourceDefinition$/gm)?.length]).toEqual([0, kinds.length]);
  });

  test('agent serves, is used, and ends at SIGTERM', async () => {
    const { child, output, exited } = start(['agent', 'http', '9', '--name', 'web', '--web-addr', '127.0.0.1:0']);
    const url = await until('the address', () => /listening on (http:[^,]+)/.exec(output())?.[1]);
    expect(await (await fetch(url)).text()).toContain('<title>Inspector</title>');
    const listed = await finish('agent', 'tunnels', '--agent-url', url);
    expect(listed).toEqual({ code: 0, output: expect.stringMatching(/^web +http +http:\/\/web\.localhost:\d+ /m) });
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
  });

  test('run makes a resource Ready, and ends at SIGTERM', async () => {
    const [kube, cloud] = await Promise.all([startTestKubeApi({ crds: 'project' }), startTestCloud()]);
    ends.push(kube.stop, cloud.stop);
    const [kubeconfig, key] = [join(home, 'kubeconfig'), join(home, 'key')];
    await writeFile(kubeconfig, await readFile(kube.kubeconfig), { mode: 0o644 });
    await writeFile(key, cloud.apiKey, { mode: 0o644 });
    const request = kubeRequests(kube.url, kube.token);
    const path = '/apis/edge-operator.dev/v1alpha1/namespaces/default/botusers';
    const bot = {
      apiVersion: 'edge-operator.dev/v1alpha1',
      kind: 'BotUser',
      metadata: { name: 'a' },
      spec: { name: 'a' },
    };
    const headers = { 'content-type': 'application/json' };
    expect((await request(path, { method: 'POST', headers, body: JSON.stringify(bot) })).status).toBe(201);
    const addresses = ['--metrics-addr', '127.0.0.1:0', '--health-addr', '127.0.0.1:0'];
    const { child, output, exited } = start([
      ...['run', '--kubeconfig', kubeconfig, '--api-url', cloud.url, '--api-key-file', key, ...addresses],
    ]);
    await until('the bot user to be Ready', async () => {
      if (child.exitCode !== null) throw new Error(output());
      const { status } = (await (await request(`${path}/a`)).json()) as Bot;
      return status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True');
    });
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
  });

  test.each(['cloud', 'kube', 'demo'])('%s is not in it, and it says where it is', async (name) => {
    const { code, output } = await finish(name);
    expect([code, output]).toEqual([2, expect.stringContaining(`npm start -- ${name}`)]);
  });
});

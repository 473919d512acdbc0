import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { chmod, chown, readFile, writeFile } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
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
    const node = `node:${manifest.devDependencies.node}-bookworm-slim`;
    const stages = dockerfile.stages.map(({ name, base, platform }) => [name, base.split('@')[0], platform]);
    expect(stages).toEqual([
      ['build', node, '$BUILDPLATFORM'],
      ['node', node, ''],
      ['', 'gcr.io/distroless/cc-debian13:nonroot', ''],
    ]);
    // Without RUN an image for another platform is made without emulation.
    expect(last().map(({ name }) => name)).not.toContain('RUN');
  });

  test('takes every base by digest, and no other for being told so', () => {
    const digests = dockerfile.stages.map(({ base }) => base.split('@')[1] ?? '');
    for (const digest of digests) expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(digests[0]).toBe(digests[1]);
    expect(dockerfile.args).toEqual([]);
  });

  test('Node is linked with nothing but what the last base has', () => {
    const script = 'console.log(JSON.stringify(process.report.getReport().sharedObjects))';
    const objects: readonly string[] = JSON.parse(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' }));
    const names = objects.map((path) => basename(path).replace(/\.so\b.*/, ''));
    // Packages libc6, libgcc-s1 and libstdc++6; the vDSO is the kernel's.
    const known = /^(linux-vdso|ld-linux-.*|lib(c|m|dl|pthread|gcc_s|stdc\+\+))$/;
    expect(names.filter((name) => !known.test(name))).toEqual([]);
  });

  test('ends as a user without name and rights, and starts without a shell', () => {
    expect(argsOf('USER')).toEqual([`${user}:${user}`]);
    expect(last().find(({ name }) => name === 'ENTRYPOINT')?.shell).toBe(false);
    const entry = ['/usr/local/bin/node', '--disable-sigusr1', '/app/dist/main.js'];
    expect([argsOf('ENTRYPOINT'), argsOf('CMD')]).toEqual([entry, ['run']]);
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

test('the image holds Node, the bundle and what it reads, and nothing else', () => {
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length));
  const known = /^\/(usr\/local\/bin\/node|app\/(package\.json|LICENSE|dist\/(page\/)?[\w.-]+\.(js|css|html)))$/;
  expect(files.filter((file) => !known.test(file))).toEqual([]);
  expect(files).toContain('/app/dist/main.js');
});

/** As the image's user, where that can be had, with the file system of the image and a temporary folder. */
function start(args: readonly string[]) {
  const [node = '', ...entry] = (argsOf('ENTRYPOINT') ?? []).map((arg) => (isAbsolute(arg) ? join(root, arg) : arg));
  const id = process.getuid?.() === 0 ? { uid: user, gid: user } : {};
  const reachable = spawnSync(node, ['--version'], id).status === 0;
  const child = spawn(node, [...entry, ...args], {
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
    // Which otherwise opens Node's inspector.
    child.kill('SIGUSR1');
    const listed = await finish('agent', 'tunnels', '--agent-url', url);
    expect(listed).toEqual({ code: 0, output: expect.stringMatching(/^web +http +http:\/\/web\.localhost:\d+ /m) });
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
    expect(output()).not.toContain('Debugger');
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

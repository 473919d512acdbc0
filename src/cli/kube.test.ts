import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { main } from '../../test/support/main.ts';
import { UsageError } from '../common/usage.ts';
import { kubeCommand } from './kube.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'kube-command-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

test.each([
  [true, 'SIGTERM'],
  [false, 'SIGTERM'],
  [false, 'SIGHUP'],
] as const)('prints its address and how to use it; own file: %s; ends on %s', async (isOwn, signal) => {
  const own = join(dir, 'kubeconfig');
  const child = spawn(process.execPath, [main, 'kube', ...(isOwn ? ['--kubeconfig-out', own] : [])], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR: dir },
  });
  let output = '';
  for await (const chunk of child.stdout) {
    output += chunk;
    if (output.split('\n').length > 2) break;
  }
  const url = /^Kubernetes API on (https:\/\/127\.0\.0\.1:\d+)$/m.exec(output)?.[1];
  const kubeconfig = /^export KUBECONFIG=(.*)$/m.exec(output)?.[1] ?? '';
  expect([kubeconfig === own, kubeconfig.startsWith(join(dir, 'edge-operator-kube-'))]).toEqual([isOwn, !isOwn]);
  expect(parse(await readFile(kubeconfig, 'utf8')).clusters[0].cluster.server).toBe(url);
  expect((await stat(kubeconfig)).mode & 0o777).toBe(0o600);
  child.kill(signal);
  expect((await once(child, 'exit'))[0]).toBe(0);
  expect((await readdir(dir)).filter((name) => name !== 'kubeconfig')).toEqual([]);
});

const wrong = [
  [['--port', 'x'], '--port must be a whole number from 0 to 65535, not "x"'],
  [['--port', '70000'], '--port must be a whole number from 0 to 65535, not "70000"'],
  [['--crds', '/nowhere/at/all'], '--crds: ENOENT'],
  [['--crds', import.meta.dirname], `--crds: no YAML file in ${import.meta.dirname} holds a CustomResourceDefinition`],
  [['--data', '/dev/null'], '--data: cannot use /dev/null/kube.db: EEXIST'],
  [['--crds', ''], '--crds must not be empty'],
  [['--data', ''], '--data must not be empty'],
  [['--kubeconfig-out', ''], '--kubeconfig-out must not be empty'],
  [['--kubeconfig-out', '/nowhere/at/all'], '--kubeconfig-out: cannot write /nowhere/at/all: ENOENT'],
] as const;
test.each(wrong)('%j is one clear line', async (flags, message) => {
  const run = kubeCommand().parseAsync(['node', 'kube', ...flags]);
  await expect(run).rejects.toThrow(UsageError);
  await expect(run).rejects.toThrow(message);
});

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('a folder where none can be made is one clear line', () => {
  const command = [main, 'kube', '--data', '/proc/x'];
  const { status, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8', timeout: 30_000 });
  expect(stderr).toMatch(/^error: --data: cannot use \/proc\/x\/kube\.db: ENOENT.*\n$/);
  expect(status).toBe(2);
});

test('without a place for temporary files it says what to give, and does not stay', () => {
  const env = { ...process.env, TMPDIR: join(dir, 'none') };
  const { status, stderr } = spawnSync(process.execPath, [main, 'kube'], { encoding: 'utf8', timeout: 30_000, env });
  expect(stderr).toBe(`error: --kubeconfig-out is needed: cannot make a folder in ${join(dir, 'none')}: ENOENT\n`);
  expect(status).toBe(2);
});

test('a definition that cannot be served and a port that is taken are one clear line', async () => {
  const bad = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'x.y' } };
  await writeFile(join(dir, 'bad.yaml'), JSON.stringify(bad));
  const start = (...flags: readonly string[]) => kubeCommand().parseAsync(['node', 'kube', ...flags]);
  await expect(start('--crds', dir)).rejects.toThrow(/^--crds: CustomResourceDefinition.* "x\.y" is invalid: /);
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  await expect(start('--port', String(port))).rejects.toThrow(`--port: ${port} is in use; pick another`);
  other.close();
});

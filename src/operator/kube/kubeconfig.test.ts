import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemRuntime } from '../../common/runtime.ts';
import { findAccess } from './credentials.ts';
import { KubeConfigError, readKubeConfig } from './kubeconfig.ts';

let folder: string;

const from = (variables: Readonly<Record<string, string>> = {}) => ({
  readFile: systemRuntime.readFile,
  env: (name: string) => variables[name],
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
});

afterAll(() => rm(folder, { recursive: true }));

async function file(name: string, content: string | object): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const good = {
  clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443', 'certificate-authority': 'ca.crt' } }],
  users: [{ name: 'u', user: { tokenFile: 'token', exec: { apiVersion: 'v1', command: './plugin' } } }],
  contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'team' } }],
  'current-context': 'x',
};

test.each<[string, string | object, string]>([
  ['not YAML', 'a: [secret-token', 'not valid YAML'],
  ['not a mapping', 'hello', 'not a kubeconfig'],
  ['a list that is none', { ...good, users: 5 }, 'users is not a list'],
  ['an entry without a name', { ...good, users: [{ user: {} }] }, 'users[0].name is missing'],
  ['no current context', { ...good, 'current-context': '' }, 'current-context is not set'],
  ['an unknown context', { ...good, 'current-context': 'y' }, 'no context named "y"'],
  ['an unknown cluster', { ...good, clusters: [] }, 'context "x": no cluster named "c"'],
  ['an unknown user', { ...good, users: [] }, 'context "x": no user named "u"'],
  [
    'a password in the server, which messages name',
    { ...good, clusters: [{ name: 'c', cluster: { server: 'https://me:secret-token@127.0.0.1:6443' } }] },
    'cluster "c": server holds a user: write it under users',
  ],
  ['no server', { ...good, clusters: [{ name: 'c', cluster: {} }] }, 'cluster "c": server is not an http or https URL'],
])('%s is one line that names the file', async (_reason, content, message) => {
  const path = await file('bad', content);
  const error = await readKubeConfig(path, from()).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(KubeConfigError);
  expect(String(error)).toContain(`kubeconfig ${path}: `);
  expect(String(error)).toContain(message);
  expect(String(error)).not.toMatch(/\n|secret-token/);
});

test('a missing file is named', async () => {
  await expect(readKubeConfig('/nonexistent/config', from())).rejects.toThrow(
    'kubeconfig /nonexistent/config: no such file',
  );
});

test('relative paths are relative to the file, and exec plugins are told their protocol', async () => {
  const config = await readKubeConfig(await file('good', good), from());
  expect(config).toMatchObject({
    cluster: { 'certificate-authority': join(folder, 'ca.crt') },
    user: {
      tokenFile: join(folder, 'token'),
      exec: { command: join(folder, 'plugin'), env: [{ name: 'KUBERNETES_EXEC_INFO' }] },
    },
  });
});

test('files of KUBECONFIG are merged, the first to name a thing wins, and missing ones are left out', async () => {
  const first = await file('first', { contexts: [{ name: 'x', context: { cluster: 'c', namespace: 'mine' } }] });
  const env = { KUBECONFIG: [first, join(folder, 'missing'), await file('second', good)].join(delimiter) };
  const config = await readKubeConfig(undefined, from(env));
  expect(config).toMatchObject({ cluster: { server: 'https://127.0.0.1:6443' }, namespace: 'mine' });
});

test('the default is ~/.kube/config', async () => {
  await expect(readKubeConfig(undefined, from({ HOME: folder }))).rejects.toThrow(join(folder, '.kube', 'config'));
});

test.each([
  ['https://127.0.0.1:6443/', 'https://127.0.0.1:6443'],
  ['https://host/prefix/', 'https://host/prefix'],
])('the server %s is %s', async (server, expected) => {
  const path = await file('server', { ...good, clusters: [{ name: 'c', cluster: { server } }] });
  expect(await findAccess(path, from())).toMatchObject({ server: expected, namespace: 'team', inCluster: false });
});

test('a proxy that is not http is refused', async () => {
  const cluster = { server: 'https://127.0.0.1:1', 'proxy-url': 'socks5://127.0.0.1:2' };
  const path = await file('proxy', { ...good, clusters: [{ name: 'c', cluster }] });
  await expect(findAccess(path, from())).rejects.toThrow('proxy-url must be an http or https URL');
});

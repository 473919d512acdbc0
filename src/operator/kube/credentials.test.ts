import { expect, test } from '@jest/globals';
import { findAccess } from './credentials.ts';

const account = '/var/run/secrets/kubernetes.io/serviceaccount';
const pod = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
const mounted = { [`${account}/token`]: 'first\n', [`${account}/namespace`]: 'edge\n', [`${account}/ca.crt`]: 'CA' };

function machine(files: Record<string, string>, variables: Readonly<Record<string, string>> = {}) {
  return {
    env: (name: string) => variables[name],
    readFile: async (path: string) => {
      const text = files[path];
      if (text === undefined) throw new Error(`no such file: ${path}`);
      return text;
    },
  };
}

function kubeconfig(user: object, cluster: object = {}): string {
  return JSON.stringify({
    clusters: [{ name: 'c', cluster: { server: 'https://kube', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
}

async function credentialsOf(files: Record<string, string>) {
  const access = await findAccess('/etc/config', machine(files));
  return (await access.load())();
}

test('a pod finds its server, its namespace, and a token that is rotated', async () => {
  const files: Record<string, string> = { ...mounted };
  const access = await findAccess(undefined, machine(files, pod));
  expect(access).toMatchObject({ server: 'https://10.0.0.1:443', namespace: 'edge', inCluster: true });
  const load = await access.load();
  expect(await load()).toEqual({ headers: { authorization: 'Bearer first' }, tls: { ca: 'CA' } });
  files[`${account}/token`] = 'second\n';
  expect(await load()).toMatchObject({ headers: { authorization: 'Bearer second' } });
});

test('the address of a server may be of IPv6', async () => {
  const access = await findAccess(undefined, machine(mounted, { ...pod, KUBERNETES_SERVICE_HOST: 'fd00::1' }));
  expect(access.server).toBe('https://[fd00::1]:443');
});

test('a kubeconfig that is named is used in a pod too, and where there is no service account the default one', async () => {
  const files = { ...mounted, '/etc/config': kubeconfig({}), '/home/me/.kube/config': kubeconfig({}) };
  expect(await findAccess('/etc/config', machine(files, pod))).toMatchObject({ server: 'https://kube' });
  const variables = { ...pod, HOME: '/home/me' };
  const without = machine({ '/home/me/.kube/config': kubeconfig({}) }, variables);
  expect(await findAccess(undefined, without)).toMatchObject({ server: 'https://kube', inCluster: false });
});

test.each<[string, object, Record<string, string>]>([
  ['a token', { token: 'abc' }, { authorization: 'Bearer abc' }],
  ['a token file, which wins over a token', { token: 'abc', tokenFile: 't' }, { authorization: 'Bearer of-file' }],
  ['a name and password', { username: 'me', password: 'pw' }, { authorization: 'Basic bWU6cHc=' }],
  ['someone else', { token: 'abc', as: 'you' }, { authorization: 'Bearer abc', 'impersonate-user': 'you' }],
  ['nobody', {}, {}],
])('%s', async (_, user, headers) => {
  const files = { '/etc/config': kubeconfig(user), '/etc/t': 'of-file\n' };
  expect(await credentialsOf(files)).toEqual({ headers, tls: {} });
});

test('TLS material is in files beside the kubeconfig, or in it', async () => {
  const files = { '/etc/ca.crt': 'CA', '/etc/me.crt': 'CERT', '/etc/me.key': 'KEY' };
  const inFiles = kubeconfig(
    { 'client-certificate': 'me.crt', 'client-key': 'me.key' },
    { 'certificate-authority': 'ca.crt', 'tls-server-name': 'other' },
  );
  expect((await credentialsOf({ ...files, '/etc/config': inFiles })).tls).toEqual({
    ca: 'CA',
    cert: 'CERT',
    key: 'KEY',
    servername: 'other',
  });
  const inIt = kubeconfig(
    { 'client-certificate-data': btoa('CERT'), 'client-key-data': btoa('KEY') },
    { 'certificate-authority-data': btoa('CA'), 'insecure-skip-tls-verify': true },
  );
  expect((await credentialsOf({ '/etc/config': inIt })).tls).toEqual({
    ca: Buffer.from('CA'),
    cert: Buffer.from('CERT'),
    key: Buffer.from('KEY'),
    rejectUnauthorized: false,
  });
});

test('a token file that is empty is named', async () => {
  const files = { '/etc/config': kubeconfig({ tokenFile: 't' }), '/etc/t': '\n' };
  await expect(credentialsOf(files)).rejects.toThrow('/etc/t is empty');
});

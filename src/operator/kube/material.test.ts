import { generateKeyPairSync } from 'node:crypto';
import { rootCertificates } from 'node:tls';
import { expect, test } from '@jest/globals';
import { createCertificate } from '../../reference/kube-api/certificate.ts';
import { findAccess } from './credentials.ts';
import { KubeConfigError } from './kubeconfig.ts';

const { certificate: cert, key } = createCertificate('localhost', Date.now());
const foreign = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  privateKeyEncoding: { type: 'sec1', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
}).privateKey;

const files: Readonly<Record<string, string>> = {
  '/etc/ca.crt': `# of the cluster\n${rootCertificates[0]}\n${rootCertificates[1]}\n`,
  '/etc/both.pem': `${cert}\n${key}`,
  '/etc/token': 'abc\n',
  '/etc/empty': '\n',
  '/etc/text': 'secret-text',
};

function check(user: object, cluster: object = {}): Promise<void> {
  const config = {
    clusters: [{ name: 'c', cluster: { server: 'https://kube', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  return checkOf({ ...files, '/etc/config': JSON.stringify(config) }, '/etc/config');
}

async function checkOf(present: Readonly<Record<string, string>>, path?: string): Promise<void> {
  const readFile = async (name: string) => {
    const text = present[name];
    if (text === undefined) throw Object.assign(new Error('ENOENT: no such file'), { code: 'ENOENT' });
    return text;
  };
  const variables = new Map([
    ['KUBERNETES_SERVICE_HOST', '10.0.0.1'],
    ['KUBERNETES_SERVICE_PORT', '443'],
  ]);
  await (await findAccess(path, { env: (name) => variables.get(name), readFile })).check();
}

const authority = 'certificate-authority';
test.each<[string, object, object]>([
  [`${authority} /none: no such file`, {}, { [authority]: '/none' }],
  [`${authority} /etc/text: not a certificate in PEM`, {}, { [authority]: 'text' }],
  [`${authority} /etc/empty: not a certificate in PEM`, {}, { [authority]: 'empty' }],
  [`${authority}-data: not a certificate in PEM`, {}, { [`${authority}-data`]: btoa('secret-text') }],
  ['client-certificate /none: no such file', { 'client-certificate': '/none' }, {}],
  ['client-certificate-data: not a certificate in PEM', { 'client-certificate-data': btoa(key) }, {}],
  ['client-certificate: needs client-key', { 'client-certificate-data': btoa(cert) }, {}],
  [
    'client-key: not that of client-certificate',
    { 'client-certificate-data': btoa(cert), 'client-key-data': btoa(foreign) },
    {},
  ],
  ['client-key /none: no such file', { 'client-key': '/none' }, {}],
  ['client-key /etc/ca.crt: not a private key in PEM', { 'client-key': 'ca.crt' }, {}],
  ['tokenFile /none: no such file', { tokenFile: '/none', exec: { command: 'plugin' } }, {}],
  ['exec: no command', { exec: { apiVersion: 'client.authentication.k8s.io/v1' } }, {}],
  ['token: not one line of visible ASCII characters, without blanks', { token: 'secret\ntext' }, {}],
  ['tokenFile /etc/ca.crt: not one line of visible ASCII characters, without blanks', { tokenFile: 'ca.crt' }, {}],
  ['tokenFile /etc/empty: empty', { tokenFile: 'empty', token: 'abc' }, {}],
])('%s', async (message, user, cluster) => {
  const error = await check(user, cluster).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(KubeConfigError);
  expect((error as Error).message).toBe(`kubeconfig: ${message}`);
});

test('what can be used is, and what a plugin gives is not asked for', async () => {
  await check({ 'client-certificate': 'both.pem', 'client-key': 'both.pem' }, { [authority]: 'ca.crt' });
  await check({ 'client-certificate-data': btoa(cert), 'client-key-data': btoa(key) });
  await check({ token: 'abc\n' });
  await check({ tokenFile: 'token' }, { 'insecure-skip-tls-verify': true });
  await check({ exec: { apiVersion: 'client.authentication.k8s.io/v1', command: '/none' } });
  await check({});
});

test('what a pod has of its own is not looked at: it may come a little later', async () => {
  await checkOf({ '/var/run/secrets/kubernetes.io/serviceaccount/token': '\n' });
});

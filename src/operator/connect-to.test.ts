import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { silentLog } from '../common/log.ts';
import { systemRuntime } from '../common/runtime.ts';
import { connectTo } from './connect-to.ts';

const here = import.meta.dirname;

test.each([
  ['/none', '--kubeconfig (or EDGE_OPERATOR_KUBECONFIG): kubeconfig /none: no such file'],
  [here, `--kubeconfig (or EDGE_OPERATOR_KUBECONFIG): kubeconfig ${here}: a folder, not a file`],
])('the flag %s is named', async (kubeconfig, message) => {
  const connection = connectTo({ kubeconfig }, silentLog, systemRuntime);
  await expect(connection).rejects.toMatchObject({ name: 'UsageError', message });
});

test('without the flag it is told of', async () => {
  const env = (name: string) => (name === 'HOME' ? '/none' : undefined);
  const connection = connectTo({}, silentLog, { ...systemRuntime, env });
  const message = 'kubeconfig /none/.kube/config: no such file; --kubeconfig names another';
  await expect(connection).rejects.toMatchObject({ name: 'UsageError', message });
});

test('so it is of a file that the kubeconfig names', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'connect-to-'));
  const kubeconfig = join(folder, 'config');
  const cluster = { server: 'https://127.0.0.1:1', 'certificate-authority': 'ca.crt' };
  const contexts = [{ name: 'x', context: { cluster: 'x' } }];
  await writeFile(kubeconfig, JSON.stringify({ 'current-context': 'x', contexts, clusters: [{ name: 'x', cluster }] }));
  const connection = connectTo({ kubeconfig }, silentLog, systemRuntime);
  const field = `certificate-authority ${join(folder, 'ca.crt')}`;
  const message = `--kubeconfig (or EDGE_OPERATOR_KUBECONFIG): kubeconfig: ${field}: no such file`;
  await expect(connection).rejects.toMatchObject({ name: 'UsageError', message });
  await rm(folder, { recursive: true });
});

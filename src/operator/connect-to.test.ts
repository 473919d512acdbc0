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

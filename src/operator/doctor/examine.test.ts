import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestKubeApi, type TestKubeApi } from '../../../test/support/kube-api.ts';
import { silentLog } from '../../common/log.ts';
import { systemRuntime } from '../../common/runtime.ts';
import { parseSettings } from '../settings.ts';
import { examine } from './doctor.ts';

let kube: TestKubeApi;
let folder: string;
beforeAll(async () => {
  kube = await startTestKubeApi();
  folder = await mkdtemp(join(tmpdir(), 'edge-operator-doctor-'));
});
afterAll(async () => {
  await kube.stop();
  await rm(folder, { recursive: true });
});

const examined = (kubeconfig: string) =>
  examine({ settings: parseSettings({ kubeconfig }), apiKey: undefined, log: silentLog, runtime: systemRuntime });

test('says which cluster it looked at, and that no account was', async () => {
  const results = await examined(kube.kubeconfig);
  expect(results.map(({ check }) => check)).toEqual(['cluster', 'definitions', 'rights', 'account', 'operator']);
  // What is found of the others is the cluster's own matter.
  expect(results).toMatchObject([
    { at: expect.stringMatching(/^https?:\/\/127\.0\.0\.1:\d+$/) },
    {},
    {},
    { at: expect.stringMatching(/^nothing: .*--api-url and --api-key-file/) },
    {},
  ]);
});

test('a cluster that cannot be reached is told once, with what to do', async () => {
  const config = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:1' } }],
    users: [{ name: 'u', user: { token: 't' } }],
  };
  const file = join(folder, 'kubeconfig');
  await writeFile(file, JSON.stringify(config));
  const [cluster, ...others] = await examined(file);
  expect(cluster).toMatchObject({
    check: 'cluster',
    failed: expect.stringMatching(/^asking http:\/\/127\.0\.0\.1:1 .*ECONNREFUSED/),
    cure: expect.stringContaining('kubectl cluster-info'),
  });
  expect(others.map(({ check }) => check)).toEqual(['account']);
});

test('a kubeconfig that is not there is told with the flag for another', async () => {
  await expect(examined(join(folder, 'none'))).rejects.toThrow(/none: no such file$/);
  const runtime = {
    ...systemRuntime,
    env: (name: string) => (name === 'KUBECONFIG' ? join(folder, 'none') : undefined),
  };
  const options = { settings: parseSettings({}), apiKey: undefined, log: silentLog, runtime };
  await expect(examine(options)).rejects.toThrow(/none: no such file; --kubeconfig names another$/);
});

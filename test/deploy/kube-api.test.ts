import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { tool } from '../../scripts/tools.ts';
import { startTestKubeApi, type TestKubeApi } from '../support/kube-api.ts';
import { chartDir, helm } from './helm.ts';

/** What a program in Go with Go's types sees of the embedded Kubernetes API, or of a real one. */
const table = join(import.meta.dirname, '../../src/reference/kube-api/writes/protobuf-fields.json');
const run = promisify(execFile);
const client = async (...args: readonly string[]) => (await run(await tool('typed-client'), args)).stdout;

let kube: TestKubeApi;
beforeAll(async () => {
  kube = await startTestKubeApi();
});
afterAll(() => kube.stop());

test('the table of protobuf fields is that of the types', async () => {
  expect(JSON.parse(readFileSync(table, 'utf8'))).toEqual(JSON.parse(await client('fields')));
});

// A real server of an older version drops the newest fields.
const embeddedOnly = process.env.TEST_KUBE_APISERVER ? test.skip : test;

embeddedOnly('every field of every type is kept, and deletions have options', async () => {
  const lost: Readonly<Record<string, readonly string[]>> = JSON.parse(await client('write', kube.kubeconfig));
  expect(Object.keys(lost).length).toBeGreaterThan(10);
  expect(Object.entries(lost).filter(([, paths]) => paths.length > 0)).toEqual([]);
});

test('a leader is elected', async () => {
  expect(await client('elect', kube.kubeconfig)).toBe('');
});

test("the project's own chart is installed, upgraded and uninstalled", async () => {
  const env = { KUBECONFIG: kube.kubeconfig };
  const inNamespace = ['--namespace', 'edge-system'];
  await helm(['install', 'edge', chartDir, ...inNamespace, '--create-namespace'], { env });
  await helm(['upgrade', 'edge', chartDir, ...inNamespace, '--set', 'replicas=2'], { env });
  expect(await helm(['status', 'edge', ...inNamespace], { env })).toMatch(/STATUS: deployed\nREVISION: 2\n/);
  expect(await helm(['uninstall', 'edge', ...inNamespace], { env })).toMatch(/release "edge" uninstalled/);
  expect(JSON.parse(await helm(['list', ...inNamespace, '--output', 'json'], { env }))).toEqual([]);
});

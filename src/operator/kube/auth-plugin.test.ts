import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { authPlugin } from './auth-plugin.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'edge-operator-plugin-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** What is said when a plugin that is this script is asked. */
async function saidOf(script: string, seconds?: number): Promise<string> {
  const command = join(dir, 'plugin');
  writeFileSync(command, `#!/bin/sh\n${script}\n`);
  chmodSync(command, 0o755);
  return (await failureOf({ exec: { command } }, seconds)).replace(command, 'plugin');
}

async function failureOf(user: object, seconds?: number): Promise<string> {
  const plugin = await authPlugin({ ...user }, seconds);
  return plugin?.().then(String, String) ?? '';
}

test.each([
  ['echo s3cret', 'kubeconfig: exec plugin: gave no credentials that can be read'],
  ['echo \'{"token":"s3cret"}\'', 'kubeconfig: exec plugin: gave no credentials that can be read'],
  ['exit 1', 'kubeconfig: exec plugin: failed, or gave no answer in 60 s, and did not say why'],
  ['echo log in first >&2; exit 1', 'kubeconfig: exec plugin: log in first'],
])('a plugin that does not work is named, and what it printed is not: %s', async (script, said) => {
  expect(await saidOf(script)).toBe(`KubeConfigError: ${said}`);
});

test('a plugin that waits for somebody is not waited for', async () => {
  expect(await saidOf('echo open a browser >&2; sleep 30', 1)).toContain('exec plugin: open a browser');
  expect(await saidOf('sleep 30', 1)).toContain('exec plugin: failed, or gave no answer in 1 s, and did not say why');
  // It is not asked at a terminal either.
  expect(await saidOf('cat; echo no terminal >&2; exit 1')).toContain('exec plugin: no terminal');
});

test('a plugin that is not there is named', async () => {
  expect(await failureOf({ exec: { command: 'no-such-plugin' } })).toContain('exec no-such-plugin: no such program');
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { systemClock } from '../clock.ts';
import { silentLog } from '../log.ts';
import { systemRuntime } from '../runtime.ts';
import { credentialOf } from './credential.ts';
import { KeyFile } from './key-file.ts';

let dir: string;
let path: string;

const open = () => KeyFile.open(path, systemRuntime);

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'edge-operator-key-'));
  path = join(dir, 'key');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('the key is the content without white space around it', async () => {
  writeFileSync(path, ' secret\n');
  expect((await open()).key).toBe('secret');
});

test('a file that is missing or empty is an error that names it', async () => {
  await expect(open()).rejects.toThrow(path);
  writeFileSync(path, '\n');
  await expect(open()).rejects.toThrow(`${path} is empty`);
});

test('what no header can carry is no key, and is not repeated', async () => {
  for (const content of ['two words', 'one\ntwo', 'kéy']) {
    writeFileSync(path, content);
    const refusal = await open().then(String, String);
    expect(refusal).toContain(`--api-key-file: ${path} holds no API key`);
    expect(refusal).not.toContain(content);
  }
});

test('a key in the variable is trimmed and checked as one in a file', async () => {
  const given = (variable: string) => credentialOf({ variable }, systemRuntime);
  expect((await given(' secret\n'))?.key()).toBe('secret');
  expect(await given(' ')).toBeUndefined();
  await expect(given('one\ntwo')).rejects.toThrow('EDGE_OPERATOR_API_KEY holds no API key');
});

test('a changed file is noticed; one that is away or empty for a moment leaves the key in force', async () => {
  writeFileSync(path, 'one');
  const file = await open();
  const stop = new AbortController();
  const steps = [() => rmSync(path), () => writeFileSync(path, ''), () => writeFileSync(path, 'two')];
  const seen: string[] = [];
  const clock = {
    ...systemClock,
    sleep: async () => {
      seen.push(file.key);
      const step = steps.shift();
      if (step === undefined) stop.abort();
      else step();
    },
  };
  const changes: string[] = [];
  await file.watch(clock, silentLog, stop.signal, () => changes.push(file.key));
  expect(seen).toEqual(['one', 'one', 'one', 'two']);
  expect(changes).toEqual(['two']);
});

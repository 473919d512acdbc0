import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { systemClock } from '../clock.ts';
import { silentLog } from '../log.ts';
import { credentialOf } from './credential.ts';
import { KeyFile } from './key-file.ts';

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'edge-operator-key-'));
  path = join(dir, 'key');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('the key is the content without white space around it', () => {
  writeFileSync(path, ' secret\n');
  expect(new KeyFile(path).key).toBe('secret');
});

test('a file that is missing or empty is an error that names it', () => {
  expect(() => new KeyFile(path)).toThrow(path);
  writeFileSync(path, '\n');
  expect(() => new KeyFile(path)).toThrow(`${path} is empty`);
});

test('what no header can carry is no key, and is not repeated', () => {
  for (const content of ['two words', 'one\ntwo', 'kéy']) {
    writeFileSync(path, content);
    const read = () => new KeyFile(path);
    expect(read).toThrow(`--api-key-file: ${path} holds no API key`);
    expect(read).not.toThrow(content);
  }
});

test('a key in the variable is trimmed and checked as one in a file', () => {
  expect(credentialOf(undefined, ' secret\n')?.key()).toBe('secret');
  expect(credentialOf(undefined, ' ')).toBeUndefined();
  expect(() => credentialOf(undefined, 'one\ntwo')).toThrow('EDGE_OPERATOR_API_KEY holds no API key');
});

test('a changed file is noticed; one that is away or empty for a moment leaves the key in force', async () => {
  writeFileSync(path, 'one');
  const file = new KeyFile(path);
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

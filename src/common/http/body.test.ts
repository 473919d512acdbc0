import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { readText } from './body.ts';

const streamOf = (...chunks: string[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk, 'latin1')));

test('all of it, also where a character spans two chunks', async () => {
  expect(await readText(streamOf())).toBe('');
  expect(await readText(streamOf('one'))).toBe('one');
  expect(await readText(streamOf('a\xc3', '\xa9b'), 4)).toBe('aéb');
});

test('nothing of what is too large, which ends', async () => {
  const body = streamOf('one', 'two', 'three');
  expect(await readText(body, 5)).toBeUndefined();
  expect(body.destroyed).toBe(true);
});

test('what it failed with', async () => {
  const failing = new Readable({ read: () => {} });
  const text = readText(failing);
  failing.destroy(new Error('reset'));
  await expect(text).rejects.toThrow('reset');
  await expect(readText(failing)).rejects.toThrow('reset');
  const cut = new Readable({ read: () => {} });
  const half = readText(cut);
  cut.push('half');
  cut.destroy();
  await expect(half).rejects.toThrow('cut off');
  await expect(readText(cut)).rejects.toThrow('cut off');
});

import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { Output, writerTo } from './output.ts';

const noticeOf = ({ lines, since }: { readonly lines: number; readonly since: Date }) =>
  `lost ${lines} since ${since.toISOString()}\n`;

/** A stream that writes, fails or waits as it is told. */
class Scripted extends Writable {
  mode: 'works' | 'fails' | 'waits' = 'works';
  text = '';
  #waiting: (() => void) | undefined;

  constructor() {
    super({ decodeStrings: false });
  }

  override _write(chunk: string, _: string, done: (error?: Error) => void): void {
    const write = () => {
      this.text += chunk;
      done();
    };
    if (this.mode === 'works') write();
    else if (this.mode === 'fails') done(new Error('ENOSPC'));
    else this.#waiting = write;
  }

  /** As those of the process: an error is not the end of it. */
  override _destroy(_: Error | null, done: (error?: Error | null) => void): void {
    done();
    const again = this as unknown as { _undestroy(): void };
    again._undestroy();
  }

  /** Somebody reads all that waits, and goes on reading. */
  read(): void {
    this.mode = 'works';
    this.#waiting?.();
  }
}

function output() {
  const stream = new Scripted();
  let second = 0;
  const now = () => new Date(Date.UTC(2026, 0, 1, 0, 0, second++));
  return { stream, out: new Output(stream, { notice: noticeOf, now }) };
}

test('lines that fail are dropped and counted, and the next one that does not says so first', async () => {
  const { stream, out } = output();
  out.write('a\n');
  stream.mode = 'fails';
  for (const line of ['b\n', 'c\n']) {
    out.write(line);
    await turn();
  }
  stream.mode = 'works';
  out.write('d\n');
  out.write('e\n');
  expect(stream.text).toBe('a\nlost 2 since 2026-01-01T00:00:00.000Z\nd\ne\n');
});

test('a notice that fails loses nothing of the count', async () => {
  const { stream, out } = output();
  stream.mode = 'fails';
  for (let line = 0; line < 5; line += 1) {
    out.write(`${line}\n`);
    await turn();
  }
  stream.mode = 'works';
  out.write('x\n');
  expect(stream.text).toBe('lost 5 since 2026-01-01T00:00:00.000Z\nx\n');
});

test('lines of one moment are counted each', async () => {
  const { stream, out } = output();
  stream.mode = 'fails';
  for (let line = 0; line < 5; line += 1) out.write(`${line}\n`);
  await turn();
  stream.mode = 'works';
  out.write('x\n');
  expect(stream.text).toMatch(/^lost 5 since .*\nx\n$/);
});

test('what nobody reads is held up to a bound, and said to be lost as soon as somebody has read that', async () => {
  const { stream, out } = output();
  stream.mode = 'waits';
  const line = `${'x'.repeat(1_023)}\n`;
  for (let each = 0; each < 5_000; each += 1) out.write(line);
  expect(stream.writableLength).toBe(1_024 * 1_024);
  stream.read();
  await turn();
  expect(stream.text).toMatch(/^(x{1023}\n){1024}lost 3976 since .*\n$/);
  out.write('after\n');
  expect(stream.text).toMatch(/\nafter\n$/);
});

test('a reader that is slow gets whole stretches, not every other line', async () => {
  const { stream, out } = output();
  stream.mode = 'waits';
  const line = `${'x'.repeat(1_023)}\n`;
  for (let each = 0; each < 1_100; each += 1) out.write(line);
  const held = stream.writableLength;
  Object.defineProperty(stream, 'writableLength', { value: held / 2 });
  out.write('between\n');
  Reflect.deleteProperty(stream, 'writableLength');
  stream.read();
  await turn();
  expect(stream.text).toMatch(/^(x{1023}\n){1024}lost 77 since .*\n$/);
});

test('a file is written whole: what is left of a line stays a line of its own', () => {
  let room = 7;
  let file = '';
  const put = (_: number, bytes: Buffer, offset: number) => {
    if (room === 0) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    const taken = Math.min(room, bytes.length - offset);
    file += bytes.toString('latin1', offset, offset + taken);
    room -= taken;
    return taken;
  };
  const write = writerTo({ fd: 9, put });
  const errors: unknown[] = [];
  const done = (error?: Error | null) => errors.push(error?.message);
  for (const line of ['whole\n', 'torn\n', 'no\n']) write(line, done);
  room = 1_000;
  for (const line of ['after\n', 'next\n']) write(line, done);
  expect(file).toBe('whole\nt\nafter\nnext\n');
  expect(errors).toEqual([undefined, 'full', 'full', undefined, undefined]);
});

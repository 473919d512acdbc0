import { PassThrough } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import type { LoggerOptions } from './logger.ts';
import { createLogger } from './logger.ts';

function captured(options: Pick<LoggerOptions, 'level' | 'format'>) {
  const stream = new PassThrough();
  const log = createLogger({ ...options, stream, now: () => new Date('2026-01-02T03:04:05.678Z') });
  const lines = (): readonly string[] =>
    String(stream.read() ?? '')
      .split('\n')
      .slice(0, -1);
  return { log, stream, lines };
}

class Refused extends Error {
  readonly reason = 'Rejected';
  readonly code = 'ERR_EDGE_7';
}

describe('json', () => {
  test('is one object a line: time, level, message, fields', () => {
    const { log, lines } = captured({ level: 'info', format: 'json' });
    log.info('created', { kind: 'BotUser', attempts: 2, skipped: undefined });
    log.warn('two\nlines');
    expect(lines()).toEqual([
      '{"time":"2026-01-02T03:04:05.678Z","level":"info","message":"created","kind":"BotUser","attempts":2}',
      '{"time":"2026-01-02T03:04:05.678Z","level":"warn","message":"two\\nlines"}',
    ]);
  });

  test.each(['json', 'text'] as const)('no text of others makes a line of megabytes: %s', (format) => {
    const { log, lines } = captured({ level: 'info', format });
    const long = 'x'.repeat(3_000_000);
    log.info(long, { said: long, error: new Error(long, { cause: long }), nested: { deep: [long] } });
    expect(lines()[0]?.length).toBeLessThan(100_000);
  });

  test('writes nothing below its level', () => {
    const { log, lines } = captured({ level: 'warn', format: 'json' });
    log.debug('no');
    log.info('no');
    log.warn('yes');
    log.error('yes');
    expect(lines()).toHaveLength(2);
  });

  test('a child adds its fields, and the entry’s own win over those of its parents', () => {
    const { log, lines } = captured({ level: 'info', format: 'json' });
    log.child({ kind: 'BotUser', name: 'a' }).child({ name: 'b' }).info('x', { id: 1 });
    expect(JSON.parse(lines()[0] ?? '')).toMatchObject({ kind: 'BotUser', name: 'b', id: 1 });
  });

  test('a field cannot pass for the time, level or message', () => {
    const { log, lines } = captured({ level: 'info', format: 'json' });
    log.info('real', { message: 'forged', level: 'forged', time: 'forged' });
    expect(JSON.parse(lines()[0] ?? '')).toEqual({
      time: '2026-01-02T03:04:05.678Z',
      level: 'info',
      message: 'real',
    });
  });

  test('an error is its message, code, reason and causes, at any depth', () => {
    const { log, lines } = captured({ level: 'info', format: 'json' });
    const error = new Refused('outer', { cause: new Error('middle', { cause: 'inner' }) });
    log.error('failed', { error, nested: { error: new Error('deep') } });
    expect(JSON.parse(lines()[0] ?? '')).toMatchObject({
      error: { message: 'outer', code: 'ERR_EDGE_7', reason: 'Rejected', causes: ['middle', 'inner'] },
      nested: { error: { message: 'deep' } },
    });
  });

  test('stacks are written at debug only', () => {
    const error = new Error('x');
    const info = captured({ level: 'info', format: 'json' });
    info.log.error('failed', { error });
    expect(info.lines()[0]).not.toContain('logger.test');
    const debug = captured({ level: 'debug', format: 'json' });
    debug.log.error('failed', { error });
    expect(JSON.parse(debug.lines()[0] ?? '').error.stack).toContain('logger.test');
  });

  test('what JSON cannot say does not lose the line', () => {
    const { log, lines } = captured({ level: 'info', format: 'json' });
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    log.info('cycle', { cycle });
    log.info('big', { count: 12345678901234567890n });
    expect(lines().map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ message: 'cycle', unwritable: 'TypeError' }),
      expect.objectContaining({ message: 'big', count: '12345678901234567890' }),
    ]);
  });

  test('an error that is its own cause ends', () => {
    const { log, lines } = captured({ level: 'info', format: 'json' });
    const error = new Error('loop');
    error.cause = error;
    log.info('x', { error });
    expect(JSON.parse(lines()[0] ?? '').error.causes).toHaveLength(5);
  });
});

describe('text', () => {
  test('is readable: quotes only where needed, errors with their causes', () => {
    const { log, lines } = captured({ level: 'info', format: 'text' });
    log.info('listening\non two lines', { url: 'http://[::1]:80', note: 'two words', empty: '', ids: [1] });
    log.error('failed', { error: new Error('outer', { cause: new Error('inner') }) });
    expect(lines()).toEqual([
      '2026-01-02T03:04:05.678Z INFO  listening on two lines url=http://[::1]:80 note="two words" empty="" ids=[1]',
      '2026-01-02T03:04:05.678Z ERROR failed error="outer: inner"',
    ]);
  });

  test('is coloured only on a terminal', () => {
    const { log, stream, lines } = captured({ level: 'info', format: 'text' });
    log.info('x');
    expect(lines()[0]).not.toContain('\u001b');
    const terminal = Object.assign(stream, { hasColors: () => true });
    createLogger({ level: 'info', format: 'text', stream: terminal }).info('x');
    expect(lines()[0]).toContain('\u001b[32mINFO');
  });
});

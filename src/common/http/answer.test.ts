import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type Answer, body, bodyOrAbsent, done, doneOrAbsent, refusal } from './answer.ts';
import type { Service } from './service.ts';

const service: Service = {
  answered: 'the service answered',
  urlName: 'service URL',
  timeouts: { connectMs: 1, headersMs: 1, bodyMs: 1 },
  errorBody: (said) => ({ messages: [], ...(said as object) }),
};

const answer = (status: number, text = '', more: Partial<Answer> = {}): Answer => ({
  service,
  operation: undefined,
  at: 0,
  status,
  headers: {},
  text,
  secrets: [],
  ...more,
});
const saying = (said: object, more: Partial<Answer> = {}) => refusal(answer(400, JSON.stringify(said), more));

describe('what a refusal says', () => {
  test('is one line without control characters, at most 300 characters', () => {
    const { message } = saying({ messages: [' a\r\n\tb\u0000\u001b[31mc\u2028d ', ' \n ', 'more'] });
    expect(message).toBe('the service answered 400: a b [31mc d: more');
    expect(saying({ messages: ['x'.repeat(1000)] }).message).toHaveLength('the service answered 400: '.length + 300);
  });

  test('is rid of secrets before it is cut', () => {
    const secret = `line one\nline "two" ${'y'.repeat(400)}`;
    expect(saying({ messages: [`bad: ${secret}`] }, { secrets: [secret] }).message).toMatch(/: bad: \[redacted\]$/);
    const marked = { secrets: ['hunter2'], service: { ...service, redacted: '…' } };
    expect(saying({ messages: ['not hunter2'] }, marked).message).toMatch(/: not …$/);
  });

  test('does not change with every request', () => {
    const [one, two] = ['op_1', 'op_2'].map((id) => saying({ messages: [`failed, see ${id}`], requestIDs: [id] }));
    expect(one?.message).toBe(two?.message);
  });

  test('holds the code as the service has it, but none that is a secret', () => {
    const shown = { service: { ...service, codeText: (code: string | number) => ` (${code})` } };
    expect(saying({ code: 'E1' }, shown)).toMatchObject({ message: 'the service answered 400 (E1)', code: 'E1' });
    const repeated = saying({ code: 'k3y' }, { ...shown, secrets: ['k3y'] });
    expect(repeated).toMatchObject({ message: 'the service answered 400', code: undefined });
    expect(saying({ code: 5 })).toMatchObject({ message: 'the service answered 400', code: 5 });
  });
});

describe('what a service differs in', () => {
  test('Retry-After means as much as the service is believed', () => {
    const headers = { 'retry-after': '60' };
    expect(saying({}, { headers }).retryAfterMs).toBeUndefined();
    expect(saying({}, { headers, service: { ...service, longestRetryAfterMs: 5_000 } }).retryAfterMs).toBe(5_000);
  });

  test('a 502 with a code', () => {
    const coded = { service: { ...service, codedBadGateway: 'Rejected' } as const };
    expect(refusal(answer(502, '{"code":1}', coded))).toMatchObject({ reason: 'Rejected', definite: false });
    expect(refusal(answer(502, '{}', coded)).reason).toBe('Unreachable');
    expect(refusal(answer(502, '{"code":1}')).reason).toBe('Unreachable');
  });

  test('statuses that are a success', () => {
    const read = body(z.object({}));
    expect(read(answer(200, '{}'))).toEqual({});
    expect(() => read(answer(201, '{}'))).toThrow('unexpected status 201');
    expect(read(answer(201, '{}', { service: { ...service, success: [200, 201] } }))).toEqual({});
    expect(() => body(z.object({}), { success: [201] })(answer(200, '{}'))).toThrow('unexpected status 200');
  });
});

describe('absent', () => {
  const readers = [bodyOrAbsent(z.object({})), doneOrAbsent('deleted')];

  test.each(['', ' \n', '{}', '"not found"'])('is what a 404 with %p says', (text) => {
    expect(readers.map((read) => read(answer(404, text)))).toEqual([undefined, 'absent']);
    expect(() => done(answer(404, text))).toThrow('the service answered 404');
  });

  test('is not what the 404 page of another server says', () => {
    for (const read of [...readers, done])
      expect(() => read(answer(404, '<html>'))).toThrow('a 404 that is not JSON; check the service URL');
  });
});

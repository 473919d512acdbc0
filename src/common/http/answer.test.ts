import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { cpuTimer } from '../../../test/support/elapsed.ts';
import { type Answer, body, bodyOrAbsent, done, doneOrAbsent, refusal } from './answer.ts';
import { numbersBelow } from './numbers.fixture.ts';
import { spelledPlainly } from './redact-plainly.fixture.ts';
import { patience, type Service } from './service.ts';

const service: Service = {
  answered: 'the service answered',
  urlName: 'service URL',
  timeouts: patience,
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
/** The form of the service, and those of what may stand in between. */
const own = '{"code":1}';
const foreign = ['', '{}', '<html>', '{"message":"no Route matched"}'];
const saying = (said: object, more: Partial<Answer> = {}) => refusal(answer(400, JSON.stringify(said), more));

function failure(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return error;
  }
}

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

  test('comes with the id of the request, for logs, where it has the form of one and is no secret', () => {
    const formed = { service: { ...service, requestIDForm: /^op_\w+$/ } };
    const idOf = (id: string, more: Partial<Answer> = {}) =>
      saying({ messages: ['failed'], requestIDs: [id] }, { ...formed, ...more }).operationID;
    expect(idOf('op_1')).toBe('op_1');
    expect(idOf('one of mine')).toBeUndefined();
    expect(idOf('op_hunter2', { secrets: ['hunter2'] })).toBeUndefined();
    expect(idOf('op_1', { service })).toBeUndefined();
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

  test('is what a 404 in the words of the service says', () => {
    const gone = answer(404, own);
    expect(readers.map((read) => read(gone))).toEqual([undefined, 'absent']);
    expect(() => done(gone)).toThrow('the service answered 404');
  });

  test.each([...foreign, ' \n', '"not found"', '[]', 'null'])('is not what a 404 with %p says', (text) => {
    const strange = answer(404, text);
    for (const read of [...readers, done, body(z.object({}), { missing: 'Unreachable' })]) {
      expect(failure(() => read(strange))).toMatchObject({
        message: "the response is malformed: a 404 that is not of the service's own form; check the service URL",
        reason: 'Unreachable',
        definite: false,
        status: 404,
      });
    }
  });

  test.each([400, 403, 410, 500])('is not what a %i says', (status) => {
    for (const read of readers) expect(() => read(answer(status, own))).toThrow(`the service answered ${status}`);
  });

  test.each([400, 405, 410, 413, 421])(
    'is not to be known where another server answers %i: nothing was sent that could be otherwise',
    (status) => {
      for (const read of readers) {
        for (const text of foreign)
          expect(failure(() => read(answer(status, text)))).toMatchObject({ reason: 'Unreachable', definite: false });
        expect(failure(() => read(answer(status, own)))).toMatchObject({ reason: 'Rejected', definite: true });
      }
    },
  );
});

describe('definite', () => {
  test.each([400, 401, 402, 403, 404, 405, 409, 410, 413, 415, 422, 431])(
    'is a %i in the words of the service only',
    (status) => {
      expect(refusal(answer(status, own)).definite).toBe(true);
      for (const text of foreign) expect(refusal(answer(status, text)).definite).toBe(false);
    },
  );

  test('is a 429 whoever answers', () => {
    for (const text of [own, ...foreign]) expect(refusal(answer(429, text)).definite).toBe(true);
  });

  test.each([408, 425, 460, 499])('is no %i: it is about the connection', (status) => {
    for (const text of [own, ...foreign]) {
      const meaning = { refused: 'Conflict' } as const;
      expect(refusal(answer(status, text), meaning)).toMatchObject({ reason: 'Unreachable', definite: false });
    }
  });

  test.each([302, 500, 502, 503, 504])('is no %i', (status) => {
    for (const text of [own, ...foreign]) expect(refusal(answer(status, text)).definite).toBe(false);
  });

  test('is no 404 where nothing can be missing: the address is wrong', () => {
    const create = body(z.object({}), { missing: 'Unreachable' });
    expect(failure(() => create(answer(404, own)))).toMatchObject({
      message: 'the service answered 404: check the service URL',
      reason: 'Unreachable',
      definite: false,
      code: 1,
    });
    expect(failure(() => create(answer(400, own)))).toMatchObject({ reason: 'Rejected', definite: true });
  });

  test('is a refusal whose code is not repeated, as it is a secret', () => {
    expect(saying({ code: 'k3y' }, { secrets: ['k3y'] })).toMatchObject({ definite: true, code: undefined });
  });
});

test('a 4xx of another server is about what was asked, without being definite', () => {
  expect(refusal(answer(400, '<html>'))).toMatchObject({ reason: 'Rejected', definite: false });
});

describe('with the most and largest secrets on record a refusal takes milliseconds', () => {
  const below = numbersBelow();
  const ofCodes = (from: number, to: number) =>
    Array.from({ length: 32 }, () =>
      String.fromCharCode(...Array.from({ length: 1_024 }, () => from + below(to - from))),
    );
  const msOf = (work: () => unknown) => {
    const took = Array.from({ length: 7 }, () => {
      const tookMs = cpuTimer();
      work();
      return tookMs();
    });
    return took.sort((a, b) => a - b)[3];
  };
  const formed = { service: { ...service, requestIDForm: /^op_\w+$/, codeForm: /^ERR_\w+$/ } };
  const said = { code: 'ERR_EDGE_1', requestIDs: ['op_2f5xDeYhHhzhEEDKNGZ4'], messages: [] };

  test.each([
    ['ASCII', ofCodes(0x21, 0x7f)],
    ['CJK', ofCodes(0x4e00, 0x9fa5)],
    [
      'one character over and over',
      Array.from({ length: 32 }, (_, at) => String.fromCharCode(0x61 + at).repeat(1_024)),
    ],
    ['a document', [ofCodes(0x21, 0x7f).join('').repeat(2).slice(0, 65_000)]],
  ])('%s', (_, secrets) => {
    const messages = [`the field "description" is not valid, see the documentation: ${secrets[0]?.slice(40, 60)}`];
    const repeated = saying({ ...said, messages }, { ...formed, secrets });
    expect(repeated).toMatchObject({ code: said.code, operationID: said.requestIDs[0] });
    expect(repeated.message).toMatch(/see the documentation: \[redacted\]$/);
    expect(msOf(() => saying({ ...said, messages }, { ...formed, secrets }))).toBeLessThan(60);
    expect(msOf(() => refusal(answer(503, '<html>', { ...formed, secrets })))).toBeLessThan(10);
  });

  test.each([
    ['random', ofCodes(0x4e00, 0x9fa5), ofCodes(0x21, 0x7f).join('').slice(0, 3_000)],
    ['one character over and over', Array.from({ length: 32 }, (_, at) => '密'.repeat(1_024 - at)), ''],
  ])('a text with bits in every encoding takes but some times as long: secrets are %s', (_, secrets, more) => {
    const bits = spelledPlainly(secrets[0] ?? '').map((spelled) => spelled.slice(100, 120));
    const messages = [`${bits.join(' ')} ${more}`];
    expect(msOf(() => saying({ ...said, messages }, { ...formed, secrets }))).toBeLessThan(200);
  });
});

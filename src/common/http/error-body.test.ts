import { describe, expect, test } from '@jest/globals';
import { errorBody } from './error-body.ts';

describe('the message of an error body', () => {
  test('is one line without control characters, at most 300 characters', () => {
    expect(errorBody({ msg: ' a\r\n\tb\u0000\u001b[31mc\u2028d ' }, [])).toEqual({ msg: 'a b [31mc d' });
    expect(errorBody({ msg: 'x'.repeat(1000) }, []).msg).toHaveLength(300);
    expect(errorBody({ msg: ' \n ' }, [])).toEqual({});
  });

  test('is rid of secrets before it is cut, wherever they stand', () => {
    const secret = `line one\nline "two" ${'y'.repeat(400)}`;
    const { msg } = errorBody({ msg: `bad: ${secret}; bad: ${JSON.stringify(secret)}; $& end` }, [secret]);
    expect(msg).toBe('bad: [redacted]; bad: "[redacted]"; $& end');
  });

  test('is rid of a secret that contains another one', () => {
    expect(errorBody({ msg: 'got abcdef and abc' }, ['abc', 'abcdef']).msg).toBe('got [redacted] and [redacted]');
  });

  test.each([
    ['without the white space around it', 's3cret of a webhook\n', 'secret "s3cret of a webhook" is wrong'],
    ['cut short', `s3cret-${'x'.repeat(100)}`, `secret "s3cret-${'x'.repeat(20)}..." is too long`],
    ['cut short and quoted', `s3cret\n"${'x'.repeat(100)}`, `secret "s3cret\\n\\"${'x'.repeat(20)}..." is too long`],
  ])('is rid of a secret that the service repeats %s', (_, secret, msg) => {
    expect(errorBody({ msg }, [secret]).msg).toMatch(/^secret "\[redacted\][".]/);
  });

  test('an empty secret hides nothing', () => {
    expect(errorBody({ msg: 'as it was' }, ['']).msg).toBe('as it was');
  });

  test('does not change with every request', () => {
    const body = (id: string) => ({ msg: `failed, see ${id}`, details: { operation_id: id } });
    expect(errorBody(body('op_1'), [])).toEqual(errorBody(body('op_2'), []));
  });
});

describe('the code of an error body', () => {
  test.each(['ERR_EDGE_120', 'not-found', 'a.b'])('%s is one', (code) => {
    expect(errorBody({ error_code: code }, [])).toEqual({ code });
  });

  test.each(['', 'two words', '<b>', 'x'.repeat(65), 'k3y'])('"%s" is none', (code) => {
    expect(errorBody({ error_code: code }, ['k3y'])).toEqual({});
  });
});

test.each([undefined, null, 'text', 5, []])('%p says nothing', (body) => {
  expect(errorBody(body, [])).toEqual({});
});

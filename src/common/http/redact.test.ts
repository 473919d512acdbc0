import { describe, expect, test } from '@jest/globals';
import { redact } from './redact.ts';

describe('a text', () => {
  test('is rid of secrets wherever they stand', () => {
    const secret = `line one\nline "two" ${'y'.repeat(400)}`;
    const text = redact(`bad: ${secret}; bad: ${JSON.stringify(secret)}; $& end`, [secret], '[redacted]');
    expect(text).toBe('bad: [redacted]; bad: "[redacted]"; $& end');
  });

  test('is rid of a secret that contains another one', () => {
    expect(redact('got abcdef and abc', ['abc', 'abcdef'], '$&')).toBe('got $& and $&');
  });

  test.each([
    ['without the white space around it', 's3cret of a webhook\n', 'secret "s3cret of a webhook" is wrong'],
    ['cut short', `s3cret-${'x'.repeat(100)}`, `secret "s3cret-${'x'.repeat(20)}..." is too long`],
    ['cut short and quoted', `s3cret\n"${'x'.repeat(100)}`, `secret "s3cret\\n\\"${'x'.repeat(20)}..." is too long`],
  ])('is rid of a secret that is repeated %s', (_, secret, text) => {
    expect(redact(text, [secret], '[redacted]')).toMatch(/^secret "\[redacted\][".]/);
  });

  test('an empty secret hides nothing', () => {
    expect(redact('as it was', [''], '[redacted]')).toBe('as it was');
  });
});

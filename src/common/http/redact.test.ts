import { describe, expect, test } from '@jest/globals';
import { cpuTimer } from '../../../test/support/elapsed.ts';
import { numbersBelow } from './numbers.fixture.ts';
import { redact, redaction, withoutDocuments } from './redact.ts';
import { redactPlainly, spelledPlainly } from './redact-plainly.fixture.ts';

const hexOf = (text: string) => Buffer.from(text).toString('hex');

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

  test.each([
    [
      'a part of one',
      'no configuration "cret of a web_hunter2"',
      'cret of a web_hunter2',
      'no configuration "cret of a web_hunter2"',
    ],
    ['in hex', `bad id ${hexOf('3cret of')}`, hexOf('3cret of').toUpperCase(), `bad id ${hexOf('3cret of')}`],
    ['quoted', 'bad "\\"s3cret of"', '"s3cret of', 'bad "\\"s3cret of"'],
    ['on one line', 'bad id cret of a', 'cret\nof a', 'bad id cret of a'],
    ['which is less than the text repeats', 'bad id s3cret of a webhook', 's3cret of', 'bad id s3[redacted]'],
    ['a short one', 'bad id hunter2', 'hunter2', 'bad id hunter2'],
  ])('tells nobody what of his own words is in a secret: %s', (_, text, said, shown) => {
    const secrets = ['s3cret of a webhook', 'hunter2'];
    expect(redact(text, secrets, '[redacted]', [said])).toBe(shown);
    expect(redact(text, secrets, '[redacted]', ['other'])).toContain('[redacted]');
  });

  test('an empty secret hides nothing', () => {
    expect(redact('as it was', [''], '[redacted]')).toBe('as it was');
  });
});

describe('a secret of 24 characters', () => {
  const secret = 'Zq8"vK/2+tY&mN<4>wLs\'9Rb';
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const hex = Buffer.from(secret).toString('hex');
  const units = secret.split('').map((unit) => unit.charCodeAt(0));
  const spelled: readonly [how: string, text: string][] = [
    ['as it is', secret],
    ['in base64', base64(secret)],
    ['in base64, one byte later', base64(`:${secret}`)],
    ['in base64, two bytes later', base64(`::${secret}`)],
    ['in base64 for URLs', Buffer.from(secret).toString('base64url')],
    ['in a URL', encodeURIComponent(secret)],
    ['in a URL, with small digits', encodeURIComponent(secret).replace(/%../g, (byte) => byte.toLowerCase())],
    ['in a URL, every byte', hex.replace(/../g, '%$&')],
    ['in hex', hex],
    ['in capital hex', hex.toUpperCase()],
    ['in hex with blanks', hex.replace(/..(?=.)/g, '$& ')],
    ['in hex, byte by byte', hex.replace(/../g, '\\x$&')],
    ['in hex with colons', hex.replace(/..(?=.)/g, '$&:')],
    ['in JSON', JSON.stringify(secret).slice(1, -1)],
    ['in JSON, every character', units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')],
    [
      'in HTML',
      secret
        .replace(/&/g, '&amp;')
        .replace(/</g, '&lt;')
        .replace(/>/g, '&gt;')
        .replace(/"/g, '&quot;')
        .replace(/'/g, '&#39;'),
    ],
    ['in HTML, every character', units.map((unit) => `&#${unit};`).join('')],
    ['in HTML, every character in hex', units.map((unit) => `&#x${unit.toString(16)};`).join('')],
    ['in capitals', secret.toUpperCase()],
    ['backwards', secret.split('').reverse().join('')],
  ];
  /** Any run of so many characters of the one in the other. */
  const shares = (text: string, of: string, length: number) =>
    Array.from({ length: of.length - length + 1 }, (_, at) => of.slice(at, at + length)).some((run) =>
      text.includes(run),
    );

  test.each(spelled)('is hidden %s, whole and in part', (_, text) => {
    const parts = [text, text.slice(0, 12), text.slice(-12), text.slice(5, 17)];
    for (const part of parts) {
      const told = redact(`before ${part} after`, [secret], '[redacted]');
      expect(told).toMatch(/^before .*after$/);
      expect(told).toContain('[redacted]');
      expect(shares(told, text, 10)).toBe(false);
    }
  });

  test('leaves seven characters of it, which tell nothing, and all else', () => {
    const told = redact(`no ${secret.slice(3, 10)}, no ${secret.slice(-7)}`, [secret], '[redacted]');
    expect(told).toBe(`no ${secret.slice(3, 10)}, no ${secret.slice(-7)}`);
  });
});

describe('a short secret', () => {
  test.each([
    ['no', 'invalid tunnel definition: unknown field', 'is a word backwards, and stands in others'],
    ['in', 'the value is not known', 'is two letters in the middle of base64'],
    ['x', 'agg egg Gxg', 'is one letter in the middle of base64'],
    ['1', 'status 401, 2.10 or v1', 'is part of a number'],
    ['true', 'the word eurt', 'is not looked for backwards'],
    [' ', 'a b - c', 'is blank, and so no secret'],
  ])('%j leaves %j as it is: it %s', (secret, text) => expect(redact(text, [secret], '-')).toBe(text));

  test.each([
    ['no', 'field "no" and no_such=no, "bm8=" or 6e6f', 'field "-" and -_such=-, "-=" or -'],
    ['1', 'value 1: 1', 'value -: -'],
    ['a+b', 'unknown a+b, a%2Bb', 'unknown -, -'],
    ['$^', 'not $^', 'not -'],
    ['true', 'untrue, dHJ1ZQ==, 74727565', 'un-, -==, -'],
    ['hunter2\n', 'not op_hunter2', 'not op_-'],
    ['  no  ', 'not no', 'not -'],
  ])('%j is hidden in %j', (secret, text, told) => expect(redact(text, [secret], '-')).toBe(told));
});

test('a document of 64 KiB does not take long, and its words stay words', () => {
  const document = `<a>${'the metadata of an identity provider, at https://idp.test/x '.repeat(1_100)}</a>`;
  const tookMs = cpuTimer();
  const told = redact(`${'y '.repeat(1_900)}the metadata is at identity provider, at https:`, [document], '-');
  expect(tookMs()).toBeLessThan(2_000);
  expect(told.slice(-60)).not.toContain('identity provider');
  expect(redact('a'.repeat(4_096), ['a'.repeat(65_536)], '-')).toBe('-');
  expect(tookMs()).toBeLessThan(2_000);
});

test('several texts are redacted as each of them alone; no other is known to be clean', () => {
  const redacting = redaction(['not s3cret of a', 'hunter2', 'op_1'], ['s3cret of a webhook', 'hunter2'], () => [
    '3cret of',
  ]);
  expect(redacting.redacted('not s3cret of a', '-')).toBe('not -');
  expect(redacting.redacted('hunter2', '-')).toBe('-');
  expect(redacting.redacted('op_1', '-')).toBe('op_1');
  expect(redacting.redacted('op_2', '-')).toBe('-');
  expect(['not s3cret of a', 'hunter2', 'op_1', 'op_2'].map((text) => redacting.isClean(text))).toEqual([
    false,
    false,
    true,
    false,
  ]);
});

test('what was said is no part of a secret to who said it, and one to others', () => {
  const redacting = redaction(['no 3cret of'], ['s3cret of a webhook'], () => ['3cret of']);
  expect(redacting.redacted('no 3cret of', '-')).toBe('no 3cret of');
  expect(redacting.isClean('no 3cret of')).toBe(false);
});

describe('of texts with bits of secrets in them, in every encoding', () => {
  const alphabets = [
    'abcXYZ09',
    'ab "\\&<>\'%+/\n\t-_',
    '  \n ab',
    'äöü中文字é',
    '😀a\ud800\udc00',
    '~b*!()\0',
    '\u2028\u00a0 b',
  ];
  const below = numbersBelow();
  const oneOf = <T>(all: readonly T[]) => all[below(all.length)] as T;
  const words = (length: number) => {
    const units = (oneOf(alphabets) + oneOf(alphabets)).split('');
    return Array.from({ length }, () => oneOf(units)).join('');
  };
  const bit = (text: string, length: number) => {
    const start = below(Math.max(1, text.length - 5));
    return text.slice(start, start + 5 + below(length));
  };

  test.each([
    'Zq8"vK/2+tY&mN<4>wLs\'9Rb~ x%A\\nB;#\t_-',
    ' \nab  cd\n\n"ef" \u2028 g\0h?>~>\u00ff\u00fe ',
    '密码 是秘密&\n 😀\ud800x"的é~ü>',
  ])('any 8 characters in a row of a secret, alone, are hidden: %j', (secret) => {
    for (const spelled of spelledPlainly(secret)) {
      for (let start = 0; start + 8 <= spelled.length; start++) {
        const run = spelled.slice(start, start + 8);
        expect([run, redact(run, [secret], '')]).toEqual([run, '']);
      }
    }
  });

  test.each([
    ['of up to 60 characters', 400, () => 8 + below(52)],
    ['of up to 1 KiB', 30, () => 900 + below(124)],
    ['of more', 20, () => 1_100 + below(400)],
  ])('as much is hidden as by looking for each of them: secrets %s', (_, cases, length) => {
    for (let each = 0; each < cases; each++) {
      const secrets = Array.from(
        { length: 1 + below(3) },
        () => oneOf(['', '  ', '\n']) + words(length()) + oneOf(['', '\n']),
      );
      const said = below(2) === 0 ? [] : [bit(oneOf(secrets), 30), words(below(20))];
      const bits = Array.from(
        { length: 1 + below(5) },
        () => bit(oneOf(spelledPlainly(oneOf(secrets))), 25) + oneOf(['', ' ', ', ', ': ', '%']),
      );
      const text = oneOf([bits.join(''), bits.join('').toUpperCase()]).replaceAll('\n', ' ');
      // The others are looked for whole.
      const parted = secrets.filter((secret) => secret.replace(/\s+/g, ' ').trim().length >= 8);
      expect([text, redact(text, parted, '§', said)]).toEqual([text, redactPlainly(text, parted, '§', said)]);
    }
  });
});

describe('what looks like a document', () => {
  test.each([
    ['found <EntityDescriptor entityID="x"> there', 'found -'],
    ['found &lt;ds:X509Certificate&gt; there', 'found -'],
    ['found %3CEntityDescriptor there', 'found -'],
    [`found ${'A1+/'.repeat(16)} there`, 'found - there'],
    ['1 < 2, a <= b, ra_2f5xDeYhHhzhEEDKNGZ4yxgdfNK', '1 < 2, a <= b, ra_2f5xDeYhHhzhEEDKNGZ4yxgdfNK'],
  ])('%s', (text, told) => expect(withoutDocuments(text, '-')).toBe(told));
});

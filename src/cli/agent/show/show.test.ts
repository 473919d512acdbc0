import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import type { CapturedRequest } from '../../../operator/agent-client/schemas.ts';
import { showCapturedRequest } from './captured-request.ts';
import { duration } from './duration.ts';
import { printable, printableLines } from './printable.ts';
import { rawBody } from './raw-body.ts';
import { showRequests } from './requests.ts';

describe('what a terminal would obey is written as an escape', () => {
  test.each([
    ['colours and titles', '\u001b[31m \u001b]0;x\u0007', '\\x1b[31m \\x1b]0;x\\x07'],
    ['8 bit control characters', '\u009b2J \u007f', '\\x9b2J \\x7f'],
    ['line ends and tabs', 'a\r\nb\tc', 'a\\r\\nb\\tc'],
    ['text that turns around', 'a\u202eb', 'a\\u{202e}b'],
    ['half a character', 'a\ud800b', 'a\\u{d800}b'],
    ['nothing of other alphabets', 'grüß 你好 👍', 'grüß 你好 👍'],
  ])('%s', (_, text, shown) => expect(printable(text)).toBe(shown));

  test('text of many lines keeps its line ends and tabs', () => {
    expect(printableLines('a\tb\r\nc\u001b\rd\n')).toBe('a\tb\nc\\x1b\\rd\n');
  });
});

describe('the body of a raw message', () => {
  test.each([
    ['of a length', 'POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello', 'hello'],
    [
      'in chunks',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nT: 1\r\n\r\n',
      'hello',
    ],
    [
      'in chunks that were cut off',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n3\r\nhel\r\n5\r\nlo',
      'hello',
    ],
    ['in chunks that are none', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nx', ''],
    ['that is not there', 'GET / HTTP/1.1\r\n\r\n', ''],
    ['of half a head', 'GET / HTTP/1.1\r\nHost: a', ''],
  ])('%s', (_, raw, body) => expect(rawBody(Buffer.from(raw)).toString()).toBe(body));
});

const base64 = (...parts: readonly (string | Buffer)[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part))).toString('base64');

const captured: CapturedRequest = {
  uri: '/api/requests/http/req_1',
  id: 'req_1',
  tunnel_name: 'web',
  remote_addr: '127.0.0.1',
  start: '2026-01-02T03:04:05.678+00:00',
  duration: 1_234_000,
  request: {
    method: 'POST',
    proto: 'HTTP/1.1',
    headers: { 'Content-Type': ['text/plain'], Cookie: ['a\u001b', 'b'] },
    uri: '/a?b',
    raw: base64('POST /a?b HTTP/1.1\r\n\r\nline 1\n\u001b[2Jline 2\n'),
  },
  response: null,
};

describe('one captured request', () => {
  test('shows facts, headers and text, and that there is no answer yet', () => {
    expect(showCapturedRequest({ ...captured, replay_of: 'req_0', error: 'cut' })).toBe(
      `ID         req_1
Tunnel     web
From       127.0.0.1
Start      2026-01-02T03:04:05.678+00:00
Duration   1.2ms
Replay of  req_0
Error      cut

POST /a?b HTTP/1.1
Content-Type: text/plain
Cookie: a\\x1b
Cookie: b

line 1
\\x1b[2Jline 2

(no answer yet)
`,
    );
  });

  test.each<readonly [string, Record<string, string[]>, string | Buffer, string]>([
    ['a compressed body is decoded', { 'content-encoding': ['gzip'] }, gzipSync('hello'), 'hello\n(gzip decoded)\n'],
    ['a coding that lies is said', { 'content-encoding': ['gzip'] }, 'hello', 'hello\n(not whole gzip'],
    ['a binary body is never dumped', {}, Buffer.from([0xff, 0, 0x1b]), '(3 bytes that are no text; -o json has'],
  ])('%s', (_, headers, body, shown) => {
    const raw = base64('HTTP/1.1 200 OK\r\n\r\n', body);
    const response = { status: '200 OK', status_code: 200, proto: 'HTTP/1.1', headers, raw };
    const text = showCapturedRequest({ ...captured, response });
    expect(text.slice(text.indexOf('HTTP/1.1 200 OK'))).toContain(`\n\n${shown}`);
    expect(text).not.toContain('\u001b');
  });

  test('a body that was cut off says so', () => {
    const request = { ...captured.request, truncated: true };
    expect(showCapturedRequest({ ...captured, request })).toContain('\\x1b[2Jline 2\n(cut off)\n');
  });
});

test('the list has a line for each request, with a long path shortened and a start that is no date as it is', () => {
  const request = { ...captured.request, uri: `/${'x'.repeat(200)}` };
  const lines = showRequests({ uri: 'u', requests: [captured, { ...captured, request, start: 'once\n' }] }).split('\n');
  expect(lines.slice(0, 2)).toEqual([
    'ID     START                 TUNNEL  STATUS  DURATION  METHOD  PATH',
    'req_1  2026-01-02T03:04:05Z  web     -       1.2ms     POST    /a?b',
  ]);
  expect(lines[2]).toMatch(/^req_1 {2}once\\n .* \/x{98}…$/);
  expect(lines).toHaveLength(4);
});

test.each([
  [0, '0µs'],
  [850_400, '850µs'],
  [12_345_678, '12.3ms'],
  [1_250_000_000, '1.25s'],
])('%i ns is %s', (nanoseconds, text) => expect(duration(nanoseconds)).toBe(text));

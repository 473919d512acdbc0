import { spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { cpuTimer } from '../support/elapsed.ts';

interface CurlRequest {
  readonly method: string;
  readonly uri: string;
  readonly headers: readonly string[];
  readonly body: Uint8Array;
  readonly base: string;
}

let curlLine: (request: CurlRequest) => string;
let json: (text: string) => string;
let xml: (text: string) => string;

beforeAll(async () => {
  const load = (name: string) => import(new URL(`../../src/agent/page/${name}.js`, import.meta.url).href);
  ({ curlLine } = await load('curl'));
  json = (await load('json')).layOut;
  xml = (await load('xml')).layOut;
});

const base = 'http://web.localhost:1';
const usual = ['User-Agent', 'x', 'Accept', '*/*'];
const none = new Uint8Array();
const line = (request: Partial<CurlRequest>) =>
  curlLine({ method: 'GET', uri: '/', headers: usual, body: none, base, ...request });

/** What bash has curl called with, in Latin-1, and what it is to read. */
function called(command: string): { readonly args: readonly string[]; readonly input: Buffer } {
  const curl = `curl() { printf '%s\\0' "$@"; [ "\${!#}" = @- ] && cat; return 0; }`;
  const { stdout, stderr, status } = spawnSync('bash', ['-s'], { input: `${curl}\n${command}\n` });
  expect([status, stderr.toString()]).toEqual([0, '']);
  const piped = stdout.indexOf('@-\0');
  const end = piped < 0 ? stdout.length : piped + 3;
  return { args: stdout.toString('latin1', 0, end).split('\0').slice(0, -1), input: stdout.subarray(end) };
}

describe('a line for curl', () => {
  test('is no longer than it needs to be', () => {
    expect(line({})).toBe("curl http://web.localhost:1/ -H 'User-Agent: x' -H 'Accept: */*'");
    expect(line({ method: 'HEAD', headers: [] })).toBe('curl http://web.localhost:1/ --head -H User-Agent: -H Accept:');
  });

  test('asks for HEAD with a body, and for dots in any form, as it was asked', () => {
    const body = new TextEncoder().encode('x');
    expect(line({ method: 'HEAD', body })).toContain(' -X HEAD ');
    expect(line({ method: 'HEAD', body })).not.toContain('--head');
    expect(line({ uri: '/a/%2e%2E/b' })).toContain(' --path-as-is ');
  });

  test.each([
    ['a\' $(touch /tmp/owned) `id` "b" \\ !! ~ * ;|&<>'],
    ['\u001b[201~\rid\n; rm -rf x\t\u0007'],
    ["'\\'' !1 \n'"],
    ['@/etc/passwd'],
    ['=ls'],
    ['-K/etc/passwd'],
  ])('hands a shell %j as it is', (hostile) => {
    const body = new TextEncoder().encode(hostile);
    const value = hostile.replace(/[\r\n]/g, '');
    const { args } = called(
      line({ method: 'POST', headers: [...usual, 'X', value, 'Content-Type', 't'], body, uri: '/a?b=c&d' }),
    );
    expect(args).toEqual([
      ...[`${base}/a?b=c&d`, '-H', 'User-Agent: x', '-H', 'Accept: */*', '-H', `X: ${value}`],
      ...['-H', 'Content-Type: t', '--data-raw', hostile],
    ]);
  });

  test('shows a terminal nothing but printable ASCII, on one line', () => {
    const body = new TextEncoder().encode('ü\u001b[201~\n!!');
    expect(line({ headers: ['X', '\xff\u0001'], body, method: 'POST' })).toMatch(/^[\x20-\x7e]*$/);
    expect(line({ headers: ['X', '\xff\u0001'], body, method: 'POST' })).not.toContain('!');
  });

  test('sends bytes of headers as they were', () => {
    expect(called(line({ headers: [...usual, 'X', '\xe9\xc3\xa9 1'] })).args).toContain('X: \xe9\xc3\xa9 1');
  });

  test.each<readonly [string, Uint8Array]>([
    ['NUL', Uint8Array.of(65, 0, 66)],
    ['no UTF-8', Uint8Array.of(255, 254, 10)],
    ['more than an argument holds', new Uint8Array(300_000).fill(39)],
  ])('sends a body with %s through a pipe', (_, body) => {
    const { args, input } = called(line({ method: 'POST', body }));
    expect(args.slice(-2)).toEqual(['--data-binary', '@-']);
    expect(input.equals(body)).toBe(true);
  });

  test.each<readonly [string, Partial<CurlRequest>, readonly string[]]>([
    ['another method', { method: "A'B" }, ['-X', "A'B"]],
    ['an empty header', { headers: ['X', ''] }, ['-H', 'X;']],
    ['no header that curl would add', { headers: [] }, ['-H', 'User-Agent:', '-H', 'Accept:']],
    ['no framing', { headers: ['Content-Length', '5', 'Transfer-Encoding', 'chunked'] }, ['-H', 'User-Agent:']],
    ['an answer unpacked', { headers: ['Accept-Encoding', 'br'] }, ['--compressed']],
    ['brackets', { uri: '/[1-3]{a}' }, ['--globoff', `${base}/[1-3]{a}`]],
    ['dots', { uri: '/a/../b' }, ['--path-as-is', `${base}/a/../b`]],
    ['a target that is no path', { method: 'OPTIONS', uri: '*' }, ['--request-target', '*', `${base}/`]],
    ['a fragment', { uri: '/a#b' }, ['--request-target', '/a#b', `${base}/`]],
    ['bytes in the target', { uri: '/\xe9' }, ['--request-target', '/\xe9', `${base}/`]],
  ])('says %s', (_, request, args) => {
    expect(called(line(request)).args.join(' ')).toContain(args.join(' '));
    expect(called(line(request)).args.join(' ')).not.toMatch(/Content-Length|Transfer-Encoding/);
  });
});

test('JSON is laid out, but not where the indents of a few bytes would fill the memory', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`;
  expect(json('{"a":[1,{}]}')).toBe('{\n  "a": [\n    1,\n    {}\n  ]\n}');
  expect(json(nested(100))).toContain(`\n${'  '.repeat(100)}1\n`);
  expect(() => json(nested(10_000))).toThrow('nested too deeply');
  expect(() => json(nested(100).replace('1', '1,'.repeat(100_000).slice(0, -1)))).toThrow('too long');
});

describe('XML', () => {
  test.each([
    ['<a><b>1</b><c/></a>', '<a>\n  <b>1</b>\n  <c/>\n</a>'],
    ['<?xml version="1.0"?>\n<a>\n\n  <b/>  </a>', '<?xml version="1.0"?>\n<a>\n  <b/>\n</a>'],
    ['<a><![CDATA[<x>]]><!-- <y> --></a>', '<a>\n  <![CDATA[<x>]]>\n  <!-- <y> -->\n</a>'],
    [`<a b=">" c='<'/>`, `<a b=">" c='<'/>`],
    ['<a></a>', '<a></a>'],
    ['<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', '<!DOCTYPE a [<!ENTITY b "c">]>\n<a>&b;</a>'],
    ['<p>one <b>two</b> three</p>', '<p>one\n  <b>two</b>\n  three\n</p>'],
  ])('%s is laid out', (text, laidOut) => {
    expect(xml(text)).toBe(laidOut);
  });

  test.each([
    ['<a><b></a>', '</a> ends what is not open'],
    ['<a>', '<a> is not closed'],
    ['</a>', '</a> ends what is not open'],
    ['<a', 'is no tag'],
    [`<!--${'<!--'.repeat(100_000)}`, 'is no tag'],
    [`<r>${'<!--a>'.repeat(100_000)}`, 'is no tag'],
    [`<r>${'<![CDATA[]>'.repeat(100_000)}`, 'is no tag'],
    [`${'<a>'.repeat(100)}${'<b/>'.repeat(100_000)}`, 'too long'],
    [`<a ${'x="y" '.repeat(100_000)}`, 'is no tag'],
    ['<a>'.repeat(10_000), 'nested too deeply'],
    [' '.repeat(3_000_000), 'too long'],
  ])('%.20s is not', (text, why) => {
    const took = cpuTimer();
    expect(() => xml(text)).toThrow(why);
    expect(took()).toBeLessThan(1_000);
  });
});

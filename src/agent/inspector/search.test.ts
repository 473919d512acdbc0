import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import type { Capture } from '../captures/capture.ts';
import { Captures } from '../captures/captures.ts';
import { readFilter } from './filter.ts';
import { type SearchLimits, search } from './search.ts';

const signal = new AbortController().signal;
const everything = { most: 1_000, signal };

interface Exchange {
  readonly method?: string;
  readonly status?: number;
  readonly tunnel?: string;
  readonly headers?: readonly string[];
  readonly body?: readonly Buffer[];
}

function capturesOf(...exchanges: readonly Exchange[]): Captures {
  const captures = new Captures({ budget: 0, now: () => 0, ticks: () => 0, random: Math.random });
  for (const { method = 'GET', status = 200, tunnel = 'web', headers = [], body = [] } of exchanges) {
    const request = { method, target: '/here', httpVersion: '1.1', rawHeaders: ['Host', 'x'] };
    const capture = captures.begin({ tunnel: { key: tunnel, name: tunnel }, remoteAddr: '10.1.1.1', request });
    capture?.respond({ statusCode: status, statusMessage: '', httpVersion: '1.1', rawHeaders: headers });
    for (const chunk of body) capture?.responseData(chunk);
    capture?.responseEnd();
    capture?.end();
  }
  return captures;
}

async function count(captures: Captures, filter: string, tunnel = ''): Promise<number> {
  return (await search(captures.list(), readFilter(filter, tunnel), everything)).captures.length;
}

describe('a word', () => {
  const captures = capturesOf(
    { method: 'POST', status: 404, headers: ['Content-Length', '200'] },
    { method: 'GET', status: 200, headers: ['X-Note', 'POST 404 Two Words'], tunnel: 'other' },
  );
  test.each([
    ['', 2, 'nothing is asked'],
    ['POST', 1, 'in capitals a method, not a text'],
    ['"POST"', 2, 'but quoted a text, of any case'],
    ['404', 1, 'a status, not a text'],
    ['4xx', 1, 'a class of them'],
    ['200', 1, 'no length'],
    ['"404"', 2, 'the one in a status line too'],
    ['x-note', 1, 'the name of a header'],
    ['"two words"', 1, 'words together'],
    ['words two', 1, 'in any order'],
    ['"two word', 1, 'a quote that is still being typed'],
    ['/here', 2, 'the target'],
    ['/here 4xx get', 0, 'all must be there'],
    ['10.1.1.1', 2, 'the client'],
    ['\ud800', 0, 'half of a character'],
  ])('%j finds %i: %s', async (filter, found) => {
    expect(await count(captures, filter)).toBe(found);
  });

  test('is looked for in one tunnel', async () => {
    expect(await count(captures, '/here', 'other')).toBe(1);
    expect(await count(captures, '4xx', 'other')).toBe(0);
  });
});

describe('a body', () => {
  const stored = Buffer.from(`needle${' '.repeat(2_000_000)}`);
  const long = Buffer.from(`${'x'.repeat(65_530)}needle in here`);
  test.each<readonly [string, readonly string[], readonly Buffer[], string]>([
    ['in pieces', [], [Buffer.from('nee'), Buffer.from('d'), Buffer.from('le')], 'NEEDLE'],
    ['of many bytes', [], [long], 'needle'],
    ['with half a character at the end of a piece', [], [Buffer.from([0xc3]), Buffer.from([0x9c])], 'ü'],
    ['packed', ['Content-Encoding', 'gzip'], [gzipSync('a needle')], 'needle'],
    ['in UTF-16', ['Content-Type', 'text/plain; charset=utf-16le'], [Buffer.from('needle', 'utf16le')], 'needle'],
    ['in Latin-1', ['Content-Type', 'text/plain; charset=latin1'], [Buffer.from('Köln', 'latin1')], 'köln'],
  ])('%s is found', async (_, headers, body, text) => {
    expect(await count(capturesOf({ headers, body }), text)).toBe(1);
    expect(await count(capturesOf({ headers, body }), 'none such')).toBe(0);
  });

  test.each<readonly [string, readonly string[], Buffer]>([
    ['that is no text', ['Content-Type', 'image/png'], Buffer.from('needle')],
    ['of more than 1 MiB when unpacked', ['Content-Encoding', 'gzip'], gzipSync(`needle${' '.repeat(2_000_000)}`)],
    ['that is too long, and packed as it is', ['Content-Encoding', 'gzip'], gzipSync(stored, { level: 0 })],
  ])('%s is left out', async (_, headers, body) => {
    expect(await count(capturesOf({ headers, body: [body] }), 'needle')).toBe(0);
  });
});

describe('a search', () => {
  const texts = (bodies: number) =>
    capturesOf(...Array.from({ length: bodies }, () => ({ body: [Buffer.alloc(2_000_000, 'some text ')] })));
  const ids = (captures: readonly Capture[]) => captures.map(({ id }) => id);
  const forNeedle = (captures: readonly Capture[], limits: SearchLimits) =>
    search(captures, readFilter('needle', ''), limits);

  test('gives way to others', async () => {
    let turns = 0;
    const counting = setInterval(() => {
      turns += 1;
    }, 0);
    await forNeedle(texts(20).list(), everything);
    clearInterval(counting);
    expect(turns).toBeGreaterThan(1);
  });

  test('ends with what it has when there is enough, and goes on from there', async () => {
    const all = capturesOf({}, {}, {}).list();
    const [first, second, third] = ids(all);
    const found = await search(all, readFilter('', ''), { most: 2, signal });
    expect([ids(found.captures), found.upTo]).toEqual([[first, second], second]);
    const whole = await search(all, readFilter('', ''), { most: 3, signal });
    expect([ids(whole.captures), whole.upTo]).toEqual([[first, second, third], undefined]);
  });

  test('ends after its time, and says how far it came', async () => {
    const all = texts(3).list();
    expect(await forNeedle(all, { most: 1, mostMs: 0, signal })).toEqual({ captures: [], upTo: all[0]?.id });
  });

  test('ends when nobody waits for it', async () => {
    const gone = AbortSignal.abort();
    expect(await forNeedle(texts(1).list(), { most: 1, signal: gone })).toEqual({ captures: [] });
  });
});

test('older ones are those that came before, and none once it is gone', () => {
  const captures = capturesOf({}, {}, {});
  const [newest, second, oldest] = captures.list();
  expect(captures.before(newest?.id ?? '')).toEqual([second, oldest]);
  expect(captures.before(oldest?.id ?? '')).toEqual([]);
  expect(captures.before('none')).toEqual([]);
});

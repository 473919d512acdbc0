import { describe, expect, test } from '@jest/globals';
import { parseFault } from './fault-spec.ts';

describe('parseFault', () => {
  test.each([
    [
      'POST /reserved_addrs latency=500ms count=3',
      { method: 'POST', latencyMs: 500, count: 3, effect: { kind: 'none' } },
    ],
    ['* ** latency=1.5s', { method: undefined, latencyMs: 1_500, count: Number.POSITIVE_INFINITY }],
    ['GET /x status=503', { effect: { kind: 'status', status: 503 } }],
    ['GET /x status=429 retry-after=7', { effect: { kind: 'status', status: 429, retryAfter: '7' } }],
    [`GET /x status=500 body='{"a": "b"}'`, { effect: { kind: 'status', status: 500, body: '{"a": "b"}' } }],
    ['GET /x status=500 body="it\'s"', { effect: { kind: 'status', status: 500, body: "it's" } }],
    ['GET /x drop skip=2', { effect: { kind: 'drop' }, skip: 2 }],
    ['GET /x reset probability=0.25', { effect: { kind: 'reset' }, probability: 0.25 }],
    ['GET /x hang', { effect: { kind: 'hang' } }],
    ['GET /x html', { effect: { kind: 'html' } }],
    ['GET /x malformed', { effect: { kind: 'malformed' } }],
    ['GET /x malformed=addr latency=10ms', { effect: { kind: 'malformed', field: 'addr' }, latencyMs: 10 }],
  ])('%s', (spec, fault) => {
    expect(parseFault(spec)).toMatchObject({ spec, ...fault });
  });

  test.each([
    ['', 'begin with GET, HEAD, POST, PUT, PATCH, DELETE or *'],
    ['post /x drop', 'begin with GET'],
    ['GET', 'comes a path'],
    ['GET x drop', 'comes a path'],
    ['GET /x', 'say what happens'],
    ['GET /x?limit=1 drop', 'a path has no query'],
    ["GET /x status=503 retry-after='1\n2'", 'retry-after is one line of ASCII characters'],
    ['GET /x explode', '"explode" is none of'],
    ['GET /x drop hang', 'exclude each other'],
    ['GET /x drop drop', 'given twice'],
    ['GET /x drop=1', 'drop takes no value'],
    ['GET /x status', 'status needs a value'],
    ['GET /x status=99', 'status=99 is out of range'],
    ['GET /x drop count=0', 'count=0 is out of range'],
    ['GET /x drop probability=2', 'probability=2 is out of range'],
    ['GET /x drop probability=0', 'probability=0 is out of range'],
    ['GET /x latency=5', 'latency is written'],
    ['GET /x drop body=x', 'belong to status'],
    [`GET /x status=500 body='open`, 'a quote is not closed'],
  ])('refuses %j', (spec, why) => {
    expect(() => parseFault(spec)).toThrow(why);
  });

  test.each([
    ['/a/*', '/a/b', true],
    ['/a/*', '/a/b/c', false],
    ['/a/*', '/a/', false],
    ['/a/*/c', '/a/b/c', true],
    ['/a/**', '/a/b/c', true],
    ['**', '/a', true],
    ['/a.b', '/aXb', false],
  ])('path %s on %s: %s', (pattern, path, matches) => {
    expect(parseFault(`GET ${pattern} drop`).path.test(path)).toBe(matches);
  });
});

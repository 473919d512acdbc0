import { describe, expect, test } from '@jest/globals';
import type { Capture, CaptureStart } from './capture.ts';
import { Captures } from './captures.ts';

const start = (target = '/', more: Partial<CaptureStart> = {}): CaptureStart => ({
  tunnel: { key: 'web', name: 'web' },
  remoteAddr: '127.0.0.1',
  request: { method: 'GET', target, httpVersion: '1.1', rawHeaders: ['Host', 'web.localhost'] },
  ...more,
});

function captures(budget: number) {
  return new Captures({ budget, now: () => 1_000, ticks: () => 0, random: Math.random });
}

function begin(held: Captures, target?: string): Capture {
  const capture = held.begin(start(target));
  if (capture === undefined) throw new Error('not captured');
  return capture;
}

const targets = (held: Captures) => held.list().map((capture) => capture.request.target);
const response = { statusCode: 200, statusMessage: 'OK', httpVersion: '1.1', rawHeaders: [] };

describe('the budget (inspect_db_size)', () => {
  test('is never exceeded, whatever comes', () => {
    const held = captures(100_000);
    for (let round = 0; round < 500; round += 1) {
      const capture = begin(held, `/${round}`);
      for (let part = 0; part < round % 7; part += 1) capture.requestData(Buffer.alloc((round * 37) % 5_000));
      capture.respond(response);
      capture.responseData(Buffer.alloc((round * 101) % 30_000));
      capture.end();
      expect(held.bytes).toBeLessThanOrEqual(100_000);
    }
    expect(held.count).toBeGreaterThan(3);
    expect(targets(held)[0]).toBe('/499');
  });

  test('the oldest leave first, finished or not', () => {
    const held = captures(4_600);
    for (const target of ['/1', '/2', '/3', '/4', '/5']) begin(held, target);
    expect(targets(held)).toEqual(['/5', '/4', '/3', '/2']);
  });

  test('what was evicted takes nothing more', () => {
    const held = captures(4_600);
    const first = begin(held, '/1');
    for (const target of ['/2', '/3', '/4', '/5']) begin(held, target);
    const before = held.bytes;
    first.requestData(Buffer.alloc(1_000));
    first.respond(response);
    expect(held.bytes).toBe(before);
    expect(held.get(first.id)).toBeUndefined();
  });

  test('what was evicted lets go of its bodies, whoever still holds it', () => {
    const held = captures(80_000);
    const upload = begin(held, '/upload');
    upload.requestData(Buffer.alloc(5_000));
    upload.respond(response);
    upload.responseData(Buffer.alloc(5_000));
    for (let round = 0; round < 100; round += 1) begin(held);
    expect(upload.evicted).toBe(true);
    upload.requestData(Buffer.alloc(5_000));
    for (const message of [upload.requestMessage, upload.responseMessage]) {
      expect(message?.body()).toHaveLength(0);
      expect(message?.truncated).toBe(true);
    }
  });

  test('one body takes an eighth at most; the rest is cut off and marked, and others stay', () => {
    const held = captures(80_000);
    const others = [begin(held), begin(held)];
    const huge = begin(held, '/huge');
    for (let part = 0; part < 100; part += 1) huge.requestData(Buffer.alloc(1_000, 'x'));
    huge.requestEnd();
    const { truncated, bodyBytes } = huge.requestMessage;
    expect(truncated).toBe(true);
    expect(bodyBytes).toBeGreaterThan(8_000);
    expect(bodyBytes).toBeLessThanOrEqual(10_000);
    expect(huge.requestMessage.body().toString()).toBe('x'.repeat(bodyBytes));
    expect(others.map(({ id }) => held.get(id))).toEqual(others);
  });

  test('a body in pieces of a byte drives out no others either', () => {
    const held = captures(80_000);
    const other = begin(held);
    const dripping = begin(held);
    dripping.respond(response);
    for (let part = 0; part < 20_000; part += 1) dripping.responseData(Buffer.from('.'));
    expect(dripping.responseMessage?.truncated).toBe(true);
    expect(held.get(other.id)).toBe(other);
    expect(dripping.charged).toBeLessThan(80_000 / 8 + 2_000);
  });

  test.each([
    [9_904, false],
    [9_905, true],
  ])('a body of %i bytes beside the 96 that its piece takes: cut off is %s', (bytes, truncated) => {
    const capture = begin(captures(80_000));
    capture.requestData(Buffer.alloc(bytes));
    expect(capture.requestMessage).toMatchObject({ truncated, bodyBytes: 9_904 });
  });

  test('trailers count, and are left out and marked where they do not fit', () => {
    const held = captures(40_000);
    const [one, two] = [begin(held), begin(held)];
    one.requestEnd(['X-Sum', 'x'.repeat(30_000)]);
    expect(held.bytes).toBeGreaterThan(30_000);
    two.requestEnd(['X-Sum', 'x'.repeat(40_000)]);
    expect(two.requestMessage.truncated).toBe(true);
    expect(held.bytes).toBeLessThanOrEqual(40_000);
  });

  test('0 means 50 MB', () => {
    const held = captures(0);
    for (let round = 0; round < 100; round += 1) begin(held).requestData(Buffer.alloc(1_000_000));
    expect(held.bytes).toBeLessThanOrEqual(50_000_000);
    expect(held.bytes).toBeGreaterThan(48_000_000);
  });

  test.each([-1, 100])('%i captures nothing', (budget) => {
    const held = captures(budget);
    expect(held.begin(start())).toBeUndefined();
    expect(held.count).toBe(0);
  });

  test('an answer that there is no room for is not passed off as none', () => {
    const capture = begin(captures(1_200));
    capture.respond({ ...response, rawHeaders: ['X-Long', 'x'.repeat(200)] });
    capture.end();
    expect(capture).toMatchObject({ response: undefined, error: 'the response does not fit into inspect_db_size' });
  });

  test('a captured chunk is a copy', () => {
    const capture = begin(captures(0));
    const chunk = Buffer.from('before');
    capture.requestData(chunk);
    chunk.write('after!');
    expect(capture.requestMessage.body().toString()).toBe('before');
  });

  test('clear gives everything back', () => {
    const held = captures(0);
    begin(held).requestData(Buffer.alloc(100));
    held.clear();
    expect(held).toMatchObject({ bytes: 0, count: 0 });
  });
});

describe('listeners', () => {
  test('are told of the start, the answer, the end and the clearing', () => {
    const held = captures(0);
    const seen: (string | undefined)[] = [];
    const stop = held.subscribe((capture) => seen.push(capture && `${capture.response?.statusCode} ${capture.ended}`));
    const capture = begin(held);
    capture.respond(response);
    capture.end();
    capture.end('later');
    held.clear();
    stop();
    begin(held);
    expect(seen).toEqual(['undefined false', '200 false', '200 true', undefined]);
    expect(capture.error).toBeUndefined();
  });

  test('are not told any more of what is not held any more: they would show it again', () => {
    const held = captures(0);
    const capture = begin(held);
    held.clear();
    const seen: unknown[] = [];
    held.subscribe((changed) => seen.push(changed));
    capture.respond(response);
    capture.end();
    expect(seen).toEqual([]);
  });
});

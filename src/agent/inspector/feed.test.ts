import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Captures } from '../captures/captures.ts';
import { feed } from './feed.ts';
import { readFilter } from './filter.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** A page's connection that takes what it is sent, or does not. */
class Connection extends EventEmitter {
  writableNeedDrain = false;
  readonly events: string[] = [];

  write(text: string): boolean {
    this.events.push(text.split('\n', 1)[0] ?? '');
    return !this.writableNeedDrain;
  }
}

test('a page that stopped reading gets one snapshot when it reads again, and nothing before', async () => {
  const captures = new Captures({ budget: 0, now: () => 0, ticks: () => 0, random: Math.random });
  const request = { method: 'GET', target: '/', httpVersion: '1.1', rawHeaders: [] };
  const page = new Connection();
  feed(captures, readFilter('', ''), page as unknown as ServerResponse);
  await jest.advanceTimersByTimeAsync(0);
  page.writableNeedDrain = true;
  page.events.length = 0;
  for (let round = 0; round < 20; round += 1) {
    captures.begin({ tunnel: { key: 'web', name: 'web' }, remoteAddr: '', request });
    await jest.advanceTimersByTimeAsync(1_000);
  }
  captures.clear();
  await jest.advanceTimersByTimeAsync(0);
  expect(page.events).toEqual([]);
  page.writableNeedDrain = false;
  page.emit('drain');
  page.emit('drain');
  await jest.advanceTimersByTimeAsync(0);
  expect(page.events).toEqual(['event: snapshot']);
  page.emit('close');
});

test('of more than a page is shown the newest are looked for anew, and none that matches is lost', async () => {
  const captures = new Captures({ budget: 0, now: () => 0, ticks: () => 0, random: Math.random });
  const page = new Connection();
  feed(captures, readFilter('POST', ''), page as unknown as ServerResponse);
  await jest.advanceTimersByTimeAsync(0);
  for (let n = 0; n < 600; n += 1) {
    const request = { method: n === 0 ? 'POST' : 'GET', target: '/', httpVersion: '1.1', rawHeaders: [] };
    captures.begin({ tunnel: { key: 'web', name: 'web' }, remoteAddr: '', request });
  }
  page.events.length = 0;
  await jest.advanceTimersByTimeAsync(1_000);
  expect(page.events).toEqual(['event: snapshot']);
  page.emit('close');
});

import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { Capture } from '../captures/capture.ts';
import { type ApiParts, apiRoutes } from './routes.ts';

const stepMs = 4;

/** Takes its time to be written. */
const capture = {
  id: 'req_1',
  tunnel: { name: 'web' },
  startedAt: 0,
  request: { method: 'GET', httpVersion: '1.1', rawHeaders: [], target: '/' },
  requestMessage: {
    raw: () => {
      const since = performance.now();
      while (performance.now() - since < stepMs);
      return Buffer.from('GET / HTTP/1.1\r\n\r\n');
    },
  },
} as unknown as Capture;

test('while a long list is written, all else has its turns', async () => {
  const count = 50;
  const captures = { list: () => Array.from({ length: count }, () => capture) };
  const routes = apiRoutes({ captures } as unknown as ApiParts);
  const route = routes.find(({ method, path }) => method === 'GET' && path === '/api/requests/http');
  const list = route?.handle({ param: '', query: {}, body: undefined }) as Readable;
  let turns = 0;
  let isWritten = false;
  const others = (async () => {
    for (; !isWritten; turns += 1) await setImmediate();
  })();
  const chunks = await list.toArray();
  isWritten = true;
  await others;
  expect(JSON.parse(chunks.join('')).requests).toHaveLength(count);
  // Several captures may be written in a turn, but not all.
  expect(turns).toBeGreaterThan(count / 10);
});

import { beforeEach, expect, test } from '@jest/globals';
import type { Dispatcher } from 'undici';
import { type Effect, Network, type Position } from './network.ts';
import { SimProcess } from './process.ts';
import { Chance } from './random.ts';
import { Scheduler } from './scheduler.ts';
import { Trace } from './trace.ts';

let scheduler: Scheduler;
let network: Network;
let client: SimProcess;
let dispatcher: Dispatcher;
let arrived: string[];
let lines: string[];

beforeEach(() => {
  scheduler = new Scheduler();
  lines = [];
  const trace = new Trace(() => scheduler.now, { print: (line) => lines.push(line) });
  network = new Network({ scheduler, trace, chance: new Chance('network') });
  client = new SimProcess('client', scheduler, new Chance('client'));
  dispatcher = network.dispatcherOf(client);
  arrived = [];
  network.add({
    name: 'shop',
    origin: 'http://shop.sim',
    latency: [10, 10],
    listener: (request, response) => {
      arrived.push(`${request.method} ${request.url} at ${scheduler.now}`);
      if (request.url?.includes('watch=true')) {
        response.writeHead(200);
        response.write('first\n');
        scheduler.after(100, () => response.write('second\n'));
        scheduler.after(200, () => response.end());
        return;
      }
      response.end('thanks');
    },
  });
});

/** What becomes of one request: its answer, or the code of its error, and when. */
function send(path = '/', options: Partial<Dispatcher.RequestOptions> = {}): { result?: string } {
  const seen: { result?: string } = {};
  const request = { origin: 'http://shop.sim', path, method: 'POST', ...options } as Dispatcher.RequestOptions;
  dispatcher.request(request).then(
    async ({ statusCode, body }) => {
      const text = await body.text().catch((error: { code: string }) => error.code);
      seen.result = `${statusCode} ${text} at ${scheduler.now}`;
    },
    (error: { code?: string | number; name: string }) => {
      seen.result = `${typeof error.code === 'string' ? error.code : error.name} at ${scheduler.now}`;
    },
  );
  return seen;
}

test('a request takes its time there and back', async () => {
  const seen = send('/a');
  await scheduler.run(1_000);
  expect([arrived, seen.result]).toEqual([['POST /a at 10'], '200 thanks at 20']);
});

test.each<[string, Effect, readonly string[], string | undefined]>([
  ['late', { delayMs: 5, answerDelayMs: 7 }, ['POST / at 15'], '200 thanks at 32'],
  ['answered by somebody else', { instead: { status: 404, headers: {}, body: 'no' } }, [], '404 no at 20'],
  ['lost', { lost: 'request' }, [], 'UND_ERR_HEADERS_TIMEOUT at 500'],
  ['unanswered', { lost: 'answer' }, ['POST / at 10'], 'UND_ERR_HEADERS_TIMEOUT at 500'],
  ['broken and late', { breaksAfterMs: 3, delayMs: 90 }, ['POST / at 100'], 'ECONNRESET at 3'],
  ['refused', { refused: true }, [], 'ECONNREFUSED at 10'],
  ['changed', { change: (answer) => ({ ...answer, body: 'well' }) }, ['POST / at 10'], '200 well at 20'],
])('a request can be %s', async (_, effect, expected, result) => {
  network.rules.add(() => effect);
  const seen = send('/', { headersTimeout: 500 });
  await scheduler.run(1_000);
  expect([arrived, seen.result]).toEqual([expected, result]);
});

test('what its sender gives up is carried out all the same', async () => {
  const abort = new AbortController();
  const seen = send('/', { signal: abort.signal });
  scheduler.after(5, () => abort.abort());
  await scheduler.run(1_000);
  expect([arrived, seen.result]).toEqual([['POST / at 10'], 'AbortError at 5']);
});

test.each<[Position, readonly string[], string | undefined]>([
  ['before sending', [], undefined],
  ['after sending', ['POST / at 10'], undefined],
  ['after the act', ['POST / at 10'], undefined],
  ['after the answer', ['POST / at 10'], undefined],
])('a process can die %s', async (position, expected, result) => {
  network.crashes.add((_, at) => at === position);
  let crashed: SimProcess | undefined;
  network.onCrash = (process) => {
    crashed = process;
  };
  const seen = send();
  await scheduler.run(1_000);
  expect([arrived, crashed, client.alive]).toEqual([expected, client, false]);
  if (position !== 'after the answer') expect(seen.result).toBe(result);
});

test('a watch comes as it is written, can be held, and cut', async () => {
  const whole = send('/?watch=true', { method: 'GET' });
  await scheduler.run(1_000);
  expect(whole.result).toBe('200 first\nsecond\n at 220');
  const held = send('/?watch=true', { method: 'GET' });
  await scheduler.run(1_050);
  const [stream] = network.streams;
  const letGo = stream?.hold();
  await scheduler.run(1_500);
  expect(held.result).toBeUndefined();
  letGo?.();
  await scheduler.run(2_000);
  expect(held.result).toBe('200 first\nsecond\n at 1510');
  const cut = send('/?watch=true', { method: 'GET' });
  await scheduler.run(2_050);
  for (const each of [...network.streams]) each.cut(false);
  await scheduler.run(3_000);
  expect(cut.result).toBe('200 ECONNRESET at 2050');
  expect(network.streams.size).toBe(0);
});

test('a silent watch ends at its limit', async () => {
  const seen = send('/?watch=true', { method: 'GET', bodyTimeout: 50 });
  await scheduler.run(1_000);
  expect(seen.result).toBe('200 UND_ERR_BODY_TIMEOUT at 70');
});

test('a watch that is cut before it began is a broken connection', async () => {
  network.opened.add((stream) => scheduler.after(1, () => stream.cut(true)));
  const seen = send('/?watch=true', { method: 'GET' });
  await scheduler.run(1_000);
  expect(seen.result).toBe('UND_ERR_SOCKET at 11');
});

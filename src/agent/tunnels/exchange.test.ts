import { type ClientRequest, request } from 'node:http';
import { afterEach, expect, jest, test } from '@jest/globals';
import { Captures } from '../captures/captures.ts';
import { Exchange, type ExchangeParts } from './exchange.ts';

const parts: Omit<ExchangeParts, 'dial'> = {
  request: { method: 'GET', target: '/', httpVersion: '1.1', rawHeaders: [] },
  upstreamName: 'localhost:1',
  isStopped: () => false,
  capture: undefined,
  client: undefined,
  onAnswered: () => {},
};

afterEach(() => {
  jest.useRealTimers();
});

test('a request that Node will not send is refused, and ends nothing else', () => {
  let answered = 0;
  const exchange = new Exchange({
    ...parts,
    dial: () => {
      throw new TypeError('invalid');
    },
    onAnswered: () => {
      answered += 1;
    },
  });
  exchange.send(Buffer.alloc(0));
  expect(answered).toBe(1);
});

test('a replay to a local server that never answers ends', () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'performance'] });
  const captures = new Captures({ budget: 0, now: () => 0, ticks: () => 0, random: () => 0.5 });
  const capture = captures.begin({ tunnel: { key: 'web', name: 'web' }, remoteAddr: '', request: parts.request });
  const dialed: ClientRequest[] = [];
  const dial = () => {
    const upstream = request({ agent: { addRequest: () => {} } as never });
    dialed.push(upstream);
    return upstream;
  };
  new Exchange({ ...parts, capture, dial }).send(Buffer.alloc(0));
  jest.advanceTimersByTime(599_999);
  expect([capture?.ended, dialed[0]?.destroyed]).toEqual([false, false]);
  jest.advanceTimersByTime(1);
  expect([capture?.ended, dialed[0]?.destroyed]).toEqual([true, true]);
  expect(capture).toMatchObject({ response: undefined, error: 'the local server was not done within 10 minutes' });
  expect([dialed.length, jest.getTimerCount()]).toEqual([1, 0]);
});

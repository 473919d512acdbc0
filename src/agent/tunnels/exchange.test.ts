import { expect, test } from '@jest/globals';
import { Exchange } from './exchange.ts';

test('a request that Node will not send is refused, and ends nothing else', () => {
  let answered = 0;
  const exchange = new Exchange({
    request: { method: 'GET', target: '/', httpVersion: '1.1', rawHeaders: [] },
    dial: () => {
      throw new TypeError('invalid');
    },
    upstreamName: 'localhost:1',
    isStopped: () => false,
    capture: undefined,
    client: undefined,
    onAnswered: () => {
      answered += 1;
    },
  });
  exchange.send(Buffer.alloc(0));
  expect(answered).toBe(1);
});

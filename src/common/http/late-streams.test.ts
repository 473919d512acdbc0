import { channel } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import { expect, test } from '@jest/globals';
import './late-streams.ts';

// As Node does it; the scenarios on a real API server meet such streams, if not each time.
test('a stream that nobody listens to ends nothing when its connection breaks', () => {
  const stream = new EventEmitter();
  channel('http2.client.stream.created').publish({ stream, headers: {} });
  expect(() => stream.emit('error', new Error('the client is destroyed'))).not.toThrow();
});

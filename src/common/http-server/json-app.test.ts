import { type AddressInfo, connect } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import type { FastifyInstance } from 'fastify';
import { until } from '../../../test/support/until.ts';
import { createJsonApp, serve } from './json-app.ts';

let app: FastifyInstance;
afterEach(() => app.close());

test('a client that breaks off its body is no fault of the server', async () => {
  const causes: string[] = [];
  app = createJsonApp({
    name: 'server',
    readBody: () => ({}),
    refusal: (_, { cause }) => {
      causes.push(cause);
      return { status: 400, body: {} };
    },
  });
  serve(app, [{ method: 'POST', path: '/', status: 204, handle: () => undefined }], {
    read: () => undefined,
    refuse: () => new Error('no such method'),
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const arrived = new Promise((resolve) => app.server.once('request', resolve));
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{');
  await arrived;
  socket.destroy();
  // The connection ends in the middle of a message, and so does what reads it.
  await until('both to be told', () => causes.length > 1);
  expect(causes).toEqual(['requestMalformed', 'requestMalformed']);
});

import { createServer as createHTTPServer, get } from 'node:http';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterEach, expect, test } from '@jest/globals';
import { listen, parseAddress } from './listen.ts';

const server = createHTTPServer((_request, response) => response.end());
afterEach(() => new Promise((resolve) => server.close(resolve)));

test.each([
  [':8080', { host: '', port: 8080 }],
  ['0.0.0.0:8080', { host: '0.0.0.0', port: 8080 }],
  ['[::]:0', { host: '::', port: 0 }],
  ['localhost:65535', { host: 'localhost', port: 65_535 }],
  ['localhost:65536', undefined],
  ['::1:8080', undefined],
  ['8080', undefined],
])('%s is read as %j', (text, expected) => expect(parseAddress(text)).toEqual(expected));

const answered = (host: string, port: number) =>
  new Promise<boolean>((resolve) => {
    get({ host, port, agent: false }, (response) => resolve(response.resume().statusCode === 200)).once('error', () =>
      resolve(false),
    );
  });
const hasIPv6 = networkInterfaces().lo?.some(({ family }) => family === 'IPv6') === true;

test.each([
  [':0', true, hasIPv6],
  ['0.0.0.0:0', true, false],
  ['127.0.0.1:0', true, false],
])('%s answers over IPv4: %s, over IPv6: %s', async (text, overIPv4, overIPv6) => {
  const address = parseAddress(text);
  const { local, port } = await listen(server, address as NonNullable<typeof address>);
  expect([await answered('127.0.0.1', port), await answered('::1', port)]).toEqual([overIPv4, overIPv6]);
  expect(local).toBe(`127.0.0.1:${port}`);
});

test('every interface is not to be had where one of them has the port', async () => {
  const other = createServer();
  const { port } = await listen(other, { host: '127.0.0.1', port: 0 });
  try {
    await expect(listen(server, { host: '', port })).rejects.toThrow(
      `cannot listen on 0.0.0.0:${port}: the address is in use`,
    );
  } finally {
    other.close();
  }
});

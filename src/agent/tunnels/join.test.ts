import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { join, reset } from './join.ts';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Both ends of a connection. */
async function connection(): Promise<readonly [Socket, Socket]> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const { port } = server.address() as AddressInfo;
  return [connect({ host: '127.0.0.1', port, allowHalfOpen: true }), (await accepted)[0]];
}

test.each([
  ['as it is', () => {}],
  ['while it is being ended', (socket: Socket) => void socket.end()],
])('a connection that is reset %s closes', async (_, before) => {
  const [socket, peer] = await connection();
  const closed = once(socket, 'close');
  before(socket);
  reset(socket);
  await closed;
  peer.destroy();
});

test('a client that ends its side and resets its connection at once leaves nothing open', async () => {
  const [client, accepted] = await connection();
  const [local, server] = await connection();
  const closed = new Promise((resolve) => join(accepted, local, resolve));
  const broken = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
  accepted.on('end', () => accepted.destroy(broken));
  client.end();
  expect(await closed).toBe(broken);
  expect([accepted.closed, local.closed]).toEqual([true, true]);
  for (const socket of [client, server]) socket.destroy();
});

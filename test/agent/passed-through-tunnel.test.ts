import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createCertificate } from '../../src/reference/kube-api/certificate.ts';
import { until } from '../support/until.ts';
import { dial, isProbed, standstill, startTestAgent, type TestAgent } from './support.ts';

let agent: TestAgent;
const servers: Server[] = [];
const sockets: Socket[] = [];

beforeAll(async () => {
  agent = await startTestAgent();
});
afterEach(async () => {
  for (const { uri } of (await agent.call('GET', '/api/tunnels')).body.tunnels) await agent.call('DELETE', uri);
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});
afterAll(() => agent.close());

/** A tcp tunnel to a server that hands its connections to the test; its public URL. */
async function tunnelTo(onConnection: (socket: Socket) => void): Promise<string> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    onConnection(socket);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const addr = `localhost:${(server.address() as AddressInfo).port}`;
  return (await agent.tunnel({ name: 'db', proto: 'tcp', addr })).public_url;
}

const metrics = async () => (await agent.call('GET', '/api/tunnels/db')).body.metrics;

test('bytes pass both ways, whoever speaks first', async () => {
  const url = await tunnelTo((socket) => {
    socket.write('hello ');
    socket.pipe(socket);
  });
  const client = dial(url);
  expect(String((await once(client, 'data'))[0])).toBe('hello ');
  client.end('echo');
  expect(await text(client)).toBe('echo');
});

test('on every interface the public URL is one to connect to', async () => {
  const open = await startTestAgent({ edge_addr: ':0' });
  const { public_url: url } = await open.tunnel({ proto: 'tcp', addr: 1 });
  await open.close();
  expect([open.edgeURL, url]).toEqual([
    expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    expect.stringMatching(/^tcp:\/\/127\.0\.0\.1:\d+$/),
  ]);
});

test('an end of one direction leaves the other open', async () => {
  const url = await tunnelTo(async (socket) => {
    const asked = await text(socket);
    socket.end(`${asked} answered after the end`);
  });
  const client = dial(url);
  client.end('question');
  expect(await text(client)).toBe('question answered after the end');
});

test('a reader that stops stops the writer (back-pressure)', async () => {
  let written = 0;
  const url = await tunnelTo((socket) => {
    const fill = () => {
      while (socket.writable && socket.write(Buffer.alloc(65_536))) written += 65_536;
    };
    socket.on('drain', fill);
    fill();
  });
  const client = dial(url);
  await once(client, 'connect');
  const before = await standstill(() => written);
  expect(written).toBeLessThan(64_000_000);
  client.resume();
  await until('the writer to go on', () => written > before);
  client.destroy();
});

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('peers are probed, so that what is left of connections of those that vanished goes', async () => {
  const url = await tunnelTo((socket) => socket.write('hello'));
  const client = dial(url);
  sockets.push(client);
  await once(client, 'data');
  const [port = 0] = servers.map((server) => (server.address() as AddressInfo).port);
  await until('probes', async () => (await isProbed(Number(new URL(url).port), 120)) && isProbed(port, 120));
});

test('connections count while open, and their durations when closed', async () => {
  const url = await tunnelTo((socket) => socket.pipe(socket));
  const clients = [dial(url), dial(url)];
  await until('two connections', async () => (await metrics()).conns.gauge === 2);
  for (const client of clients) client.end();
  const { conns, http } = await until('both to close', async () => {
    const found = await metrics();
    return found.conns.gauge === 0 && found;
  });
  expect(conns).toMatchObject({ count: 2, p50: expect.any(Number) });
  expect(conns.p50).toBeGreaterThan(0);
  expect(http.count).toBe(0);
});

describe('failures', () => {
  const closing = async (client: Socket) => {
    const errors: NodeJS.ErrnoException[] = [];
    client.on('error', (error) => errors.push(error)).resume();
    await new Promise((resolve) => client.once('close', resolve));
    return errors[0]?.code;
  };

  test('a dead local server resets the client', async () => {
    const url = await tunnelTo(() => {});
    servers.splice(0).forEach((server) => void server.close());
    expect(await closing(dial(url))).toBe('ECONNRESET');
    expect((await metrics()).conns).toMatchObject({ count: 1, gauge: 0 });
  });

  test('a reset passes through', async () => {
    const url = await tunnelTo((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const client = dial(url);
    client.write('x');
    expect(await closing(client)).toBe('ECONNRESET');
  });

  test('a client that is gone closes the connection to the local server', async () => {
    const url = await tunnelTo(() => {});
    const client = dial(url);
    const local = await until('the connection', () => sockets[0]);
    client.destroy();
    await new Promise((resolve) => local.resume().once('close', resolve).once('end', resolve));
    local.end();
    await until('the count', async () => (await metrics()).conns.gauge === 0);
  });

  test('stopping the tunnel cuts its connections and frees its port', async () => {
    const url = await tunnelTo((socket) => socket.pipe(socket));
    const client = dial(url);
    await once(client, 'connect');
    await until('the connection', () => sockets[0]);
    const closed = closing(client);
    await agent.call('DELETE', '/api/tunnels/db');
    await closed;
    expect(await closing(dial(url))).toBe('ECONNREFUSED');
    const definition = { name: 'db', proto: 'tcp', addr: '1', remote_port: Number(new URL(url).port) };
    expect((await agent.call('POST', '/api/tunnels', definition)).status).toBe(201);
  });
});

test('tls passes through unopened: the client sees the local server’s own certificate', async () => {
  const { key, certificate } = createCertificate('127.0.0.1', Date.now());
  const server = createTlsServer({ key, cert: certificate }, (socket) => socket.pipe(socket));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const addr = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { public_url: url } = await agent.tunnel({ name: 'secure', proto: 'tls', addr });
  const client = connectTls({
    host: '127.0.0.1',
    port: Number(new URL(url).port),
    ca: certificate,
    servername: 'localhost',
  });
  await once(client, 'secureConnect');
  client.end('sealed');
  expect(String(await buffer(client))).toBe('sealed');
});

import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import { dial, echo, type LocalServer, startLocal, startTestAgent, type TestAgent } from './support.ts';

/** Short of the usual ones, in milliseconds. */
const quietMs = 1_500;
const short = { headMs: 1_000, requestMs: 1_000, keepAliveMs: 100, quietMs, checkMs: 50 };

let agent: TestAgent;
const locals: LocalServer[] = [];

beforeAll(async () => {
  agent = await startTestAgent({}, { timeouts: { api: short, tunnels: { ...short, requestMs: 0 } } });
});
afterEach(async () => {
  for (const { uri } of (await agent.call('GET', '/api/tunnels')).body.tunnels) await agent.call('DELETE', uri);
  for (const local of locals.splice(0)) await local.stop();
});
afterAll(() => agent.close());

async function tunnelTo(listener: RequestListener, more: object = {}): Promise<{ url: string; local: LocalServer }> {
  const local = await startLocal(listener);
  locals.push(local);
  const { public_url: url } = await agent.tunnel({ name: 'web', proto: 'http', addr: local.addr, ...more });
  return { url, local };
}

/** A connection with this sent; `received` is all that came back, once it is closed. */
function connection(url: string, sent: string): { readonly socket: Socket; readonly received: Promise<string> } {
  const socket = dial(url);
  socket.on('error', () => {});
  socket.write(sent);
  return { socket, received: text(socket).catch(() => 'reset') };
}

const get = (url: string, path = '/') => `GET ${path} HTTP/1.1\r\nHost: ${new URL(url).host}\r\n`;

const json = 'Content-Type: application/json\r\nContent-Length: 9';

const closing = (socket: Socket) => new Promise((resolve) => socket.on('error', () => {}).once('close', resolve));

const silent: RequestListener = (request) => void request.on('error', () => {}).resume();

describe('a connection is closed that', () => {
  test.each([
    ['says nothing', ''],
    ['sends half a head', 'GET /api/ HTTP/1.1\r\nHo'],
    ['sends half a body', `POST /api/tunnels HTTP/1.1\r\nHost: localhost\r\n${json}\r\n\r\n{`],
  ])('%s to the API', async (_, sent) => {
    expect(await connection(agent.url, sent).received).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('is idle after a request to the API', async () => {
    const { received } = connection(agent.url, `${get(agent.url, '/api/')}\r\n`);
    expect(await received).toMatch(/^HTTP\/1\.1 200 /);
  });

  test.each([
    ['says nothing', ''],
    ['sends half a head', 'GET / HTTP/1.1\r\nHo'],
  ])('%s to the edge', async (_, sent) => {
    expect(await connection(agent.edgeURL, sent).received).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('is idle after a request through a tunnel', async () => {
    const { url } = await tunnelTo(echo);
    const { received } = connection(agent.edgeURL, `${get(url)}\r\n`);
    expect(await received).toMatch(/^HTTP\/1\.1 200 /);
  });

  test.each([
    ['sends half a body', 'Content-Length: 9\r\n\r\nhalf'],
    ['has been waiting for an answer', '\r\n'],
    ['has been waiting for an upgrade', 'Connection: Upgrade\r\nUpgrade: bytes\r\n\r\n'],
  ])('%s for long, through a tunnel, with that to the local server', async (_, rest) => {
    const closed: Promise<unknown>[] = [];
    const { url, local } = await tunnelTo(silent);
    local.server.on('connection', (socket) => closed.push(closing(socket)));
    expect(['', 'reset']).toContain(await connection(agent.edgeURL, get(url) + rest).received);
    expect(closed).toHaveLength(1);
    await Promise.all(closed);
  });

  test('carries nothing for long after an upgrade', async () => {
    const { url, local } = await tunnelTo(silent);
    let gone: Promise<unknown> | undefined;
    local.server.on('upgrade', (_, socket: Socket) => {
      gone = closing(socket);
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: bytes\r\n\r\n');
    });
    await connection(agent.edgeURL, `${get(url)}Connection: Upgrade\r\nUpgrade: bytes\r\n\r\n`).received;
    await gone;
  });

  test('carries nothing for long through a tcp tunnel', async () => {
    const { local } = await tunnelTo(silent);
    const gone = once(local.server, 'connection').then(([socket]) => closing(socket));
    const { public_url: url } = await agent.tunnel({ name: 'db', proto: 'tcp', addr: local.addr });
    await connection(url, '').received;
    await gone;
  });

  test('is idle after a request to the local server', async () => {
    const { url, local } = await tunnelTo(echo);
    local.server.keepAliveTimeout = 0;
    expect((await agent.visit(url)).status).toBe(200);
    const open = promisify(local.server.getConnections.bind(local.server));
    await until('it to close', async () => (await open()) === 0);
  });
});

test('a stream stays whose parts come far apart', async () => {
  const { url } = await tunnelTo(async (_, response) => {
    for (let part = 0; part < 6; part += 1) {
      response.write(`${part}`);
      await new Promise((resolve) => setTimeout(resolve, quietMs / 3));
    }
    response.end();
  });
  expect((await agent.visit(url)).text).toBe('012345');
});

describe('at once', () => {
  const held: TestAgent[] = [];
  let patient: TestAgent;

  beforeAll(async () => {
    patient = await startTestAgent();
    held.push(patient);
  });
  afterAll(() => Promise.all(held.map((each) => each.close())));

  async function idleVisitor(of: TestAgent, url: string) {
    const visitor = connection(of.edgeURL, `${get(url)}\r\n`);
    await once(visitor.socket, 'data');
    return visitor;
  }

  test('a tunnel that is stopped closes the idle connections of its visitors, and no others', async () => {
    const { local } = await tunnelTo(echo);
    const [web, other] = await Promise.all(
      ['web', 'other'].map((name) => patient.tunnel({ name, proto: 'http', addr: local.addr })),
    );
    const [ofWeb, ofOther] = [await idleVisitor(patient, web.public_url), await idleVisitor(patient, other.public_url)];
    await patient.call('DELETE', web.uri);
    expect(await ofWeb.received).toMatch(/^HTTP\/1\.1 200 /);
    ofOther.socket.write(`${get(other.public_url)}Connection: close\r\n\r\n`);
    expect((await ofOther.received).match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
    await patient.call('DELETE', other.uri);
  });

  test('a tunnel that is stopped leaves an upgrade alone that its visitor has by another', async () => {
    const { local } = await tunnelTo(silent);
    local.server.on('request', (_, response: ServerResponse) => response.end());
    local.server.on('upgrade', (_, socket: Socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: bytes\r\n\r\n');
      socket.pipe(socket).on('error', () => {});
    });
    const [web, other] = await Promise.all(
      ['web', 'other'].map((name) => patient.tunnel({ name, proto: 'http', addr: local.addr })),
    );
    const { socket, received } = await idleVisitor(patient, web.public_url);
    socket.write(`${get(other.public_url)}Connection: Upgrade\r\nUpgrade: bytes\r\n\r\n`);
    await once(socket, 'data');
    await patient.call('DELETE', web.uri);
    socket.end('still there');
    expect(await received).toMatch(/still there$/);
    await patient.call('DELETE', other.uri);
  });

  test('a tunnel that is stopped answers what is under way for the last time on its connection', async () => {
    const { local } = await tunnelTo(silent);
    const { public_url: url, uri } = await patient.tunnel({ name: 'web', proto: 'http', addr: local.addr });
    const asked = once(local.server, 'request');
    const { received } = connection(patient.edgeURL, `${get(url)}\r\n`);
    await asked;
    await patient.call('DELETE', uri);
    expect(await received).toMatch(/^HTTP\/1\.1 502 .*\r\nconnection: close\r\n/is);
  });

  test('an agent that ends closes every connection', async () => {
    const ending = await startTestAgent();
    const { local } = await tunnelTo(echo);
    const { public_url: url } = await ending.tunnel({ name: 'web', proto: 'http', addr: local.addr });
    const visitor = await idleVisitor(ending, url);
    const others = [connection(ending.edgeURL, ''), connection(ending.url, 'GET /inspect/events HTTP/1.1\r\nHost: a')];
    await Promise.all(others.map(({ socket }) => once(socket, 'connect')));
    await ending.close();
    await Promise.all([visitor, ...others].map(({ received }) => received));
  });
});

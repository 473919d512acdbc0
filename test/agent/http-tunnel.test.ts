import { createHash, hash } from 'node:crypto';
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server } from 'node:https';
import type { AddressInfo, LookupFunction, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Agent as Dialer, type MessageEvent, WebSocket } from 'undici';
import { createCertificate } from '../../src/reference/kube-api/certificate.ts';
import { until } from '../support/until.ts';
import {
  answerTo,
  dial,
  echo,
  isProbed,
  type LocalServer,
  readRaw,
  standstill,
  startLocal,
  startTestAgent,
  type TestAgent,
} from './support.ts';

let agent: TestAgent;
const locals: LocalServer[] = [];

beforeAll(async () => {
  agent = await startTestAgent();
});
afterEach(async () => {
  for (const { uri } of (await agent.call('GET', '/api/tunnels')).body.tunnels) await agent.call('DELETE', uri);
  await agent.call('DELETE', '/api/requests/http');
  for (const local of locals.splice(0)) await local.stop();
});
afterAll(() => agent.close());

async function serve(listener: RequestListener): Promise<LocalServer> {
  const local = await startLocal(listener);
  locals.push(local);
  return local;
}

async function tunnelTo(listener: RequestListener, more: object = {}): Promise<string> {
  const { addr } = await serve(listener);
  return (await agent.tunnel({ name: 'web', proto: 'http', addr, ...more })).public_url;
}

const finished = () =>
  until('the finished capture', async () => {
    const [capture] = await agent.captures();
    const gauge = (await agent.call('GET', capture.uri)).body;
    return gauge.error !== undefined && gauge;
  });

const headerOf = (rawHeaders: readonly string[], name: string) =>
  rawHeaders.flatMap((text, at) => (at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name ? [text] : []));

/** As the bytes of a header, with one beyond Latin-1 and one within. */
const nonASCII = [
  ['beyond Latin-1', '日本.pdf'],
  ['within it', 'é.txt'],
] as const;

describe('what the local server sees', () => {
  test('the request as it was sent, and where it came from', async () => {
    const url = await tunnelTo(echo);
    const headers = { 'X-CaSe': 'Kept', cookie: 'a=b', 'x-forwarded-for': '10.1.1.1', 'x-forwarded-host': 'forged' };
    const { text: seen } = await agent.visit(`${url}/a%20b/?q=%zz&q`, { headers });
    const { method, url: target, rawHeaders } = JSON.parse(seen);
    expect({ method, target }).toEqual({ method: 'GET', target: '/a%20b/?q=%zz&q' });
    expect(rawHeaders).toEqual(expect.arrayContaining(['X-CaSe', 'Kept']));
    const { host } = new URL(url);
    expect(headerOf(rawHeaders, 'host')).toEqual([host]);
    expect(headerOf(rawHeaders, 'x-forwarded-for')).toEqual(['10.1.1.1, 127.0.0.1']);
    expect(headerOf(rawHeaders, 'x-forwarded-host')).toEqual([host]);
    expect(headerOf(rawHeaders, 'x-forwarded-proto')).toEqual(['http']);
  });

  test('an IPv4 address as such, also at an edge that listens on IPv6', async () => {
    const own = await startTestAgent({ edge_addr: '[::]:0' });
    const local = await serve(echo);
    const { host, port } = new URL((await own.tunnel({ name: 'web', proto: 'http', addr: local.addr })).public_url);
    const socket = dial(`http://127.0.0.1:${port}`);
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    const { rawHeaders } = JSON.parse((await text(socket)).split('\r\n\r\n')[1] ?? '');
    const [{ remote_addr: captured }] = await own.captures();
    expect([headerOf(rawHeaders, 'x-forwarded-for'), captured]).toEqual([['127.0.0.1'], '127.0.0.1']);
    await own.close();
  });

  test.each([
    ['rewrite', (addr: string) => addr],
    ['preserve', (_: string, host: string) => host],
    ['shop.example', () => 'shop.example'],
  ])('host_header %s', async (option, wanted) => {
    const local = await serve(echo);
    const tunnel = await agent.tunnel({ name: 'web', proto: 'http', addr: local.addr, host_header: option });
    const { rawHeaders } = JSON.parse((await agent.visit(tunnel.public_url)).text);
    expect(headerOf(rawHeaders, 'host')).toEqual([wanted(local.addr, new URL(tunnel.public_url).host)]);
  });

  test('a body with its length, whatever headers are to be left out', async () => {
    const url = await tunnelTo(echo);
    const headers = { connection: 'close, content-length, host', 'content-length': '4' };
    const seen = JSON.parse((await agent.visit(url, { method: 'POST', headers, body: 'body' })).text);
    expect(seen.body).toBe('body');
    expect(headerOf(seen.rawHeaders, 'content-length')).toEqual(['4']);
    expect(headerOf(seen.rawHeaders, 'host')).toEqual([new URL(url).host]);
  });

  test.each([
    ['/a?b=c', '/a?b=c'],
    ['', '/'],
    ['?b=c', '/?b=c'],
  ])('a target that is a URL as its path, with the host of it whatever Host says: %j', async (after, path) => {
    const { host } = new URL(await tunnelTo(echo));
    const socket = dial(agent.edgeURL);
    socket.write(`GET http://${host}${after} HTTP/1.1\r\nHost: none.localhost\r\nConnection: close\r\n\r\n`);
    const { url, rawHeaders } = JSON.parse((await text(socket)).split('\r\n\r\n')[1] ?? '');
    const hosts = ['host', 'x-forwarded-host'].flatMap((name) => headerOf(rawHeaders, name));
    expect([url, hosts]).toEqual([path, [host, host]]);
    expect((await agent.captures())[0]?.request.uri).toBe(`http://${host}${after}`);
  });

  test('no header of the connection to the client', async () => {
    const url = await tunnelTo(echo);
    const headers = { connection: 'close, X-Hop', 'x-hop': '1', 'proxy-authorization': 'x', 'keep-alive': 'timeout=9' };
    const { rawHeaders } = JSON.parse((await agent.visit(url, { headers })).text);
    for (const name of ['x-hop', 'proxy-authorization', 'keep-alive']) expect(headerOf(rawHeaders, name)).toEqual([]);
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'GET', 'OPTIONS', 'PROPFIND'])(
    '%s with and without a body',
    async (method) => {
      const url = await tunnelTo(echo);
      expect(JSON.parse((await agent.visit(url, { method })).text)).toMatchObject({ method, body: '' });
      const headers = { 'content-length': '4' };
      expect(JSON.parse((await agent.visit(url, { method, headers, body: 'body' })).text)).toMatchObject({
        method,
        body: 'body',
      });
    },
  );

  test('a request whose body has yet to come', async () => {
    const url = await tunnelTo((incoming, response) => {
      response.write('ready');
      incoming.pipe(response);
    });
    const outgoing = agent.through(url, { method: 'POST' });
    outgoing.flushHeaders();
    const answer = await answerTo(outgoing);
    outgoing.end(', go');
    expect(await text(answer)).toBe('ready, go');
  });

  test('every transfer coding of a body, which is passed on as it is', async () => {
    const url = await tunnelTo(echo);
    const headers = { 'transfer-encoding': 'gzip, chunked' };
    const seen = JSON.parse((await agent.visit(url, { method: 'POST', headers, body: 'packed' })).text);
    expect([headerOf(seen.rawHeaders, 'transfer-encoding'), seen.body]).toEqual([['gzip, chunked'], 'packed']);
  });

  test.each(nonASCII)('a file name that is not ASCII behind a length: %s', async (_, name) => {
    const { host } = new URL(await tunnelTo(echo));
    const socket = dial(agent.edgeURL);
    const disposition = Buffer.from(`Content-Disposition: attachment; filename="${name}"\r\n`);
    socket.write(`POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 4\r\n`);
    socket.write(Buffer.concat([disposition, Buffer.from('Connection: close\r\n\r\nbody')]));
    const answered = await text(socket);
    const { body, rawHeaders } = JSON.parse(answered.slice(answered.indexOf('{')));
    const [seen = ''] = headerOf(rawHeaders, 'content-disposition');
    expect([Buffer.from(seen, 'latin1').toString(), body]).toEqual([`attachment; filename="${name}"`, 'body']);
  });

  test('trailers of a chunked request', async () => {
    const url = await tunnelTo(echo);
    const outgoing = agent.through(url, { method: 'POST', headers: { trailer: 'x-sum' } });
    outgoing.write('part');
    outgoing.addTrailers({ 'x-sum': '42' });
    outgoing.end();
    const seen = JSON.parse(await text(await answerTo(outgoing)));
    expect(seen).toMatchObject({ body: 'part', trailers: { 'x-sum': '42' } });
    const [{ request }] = await agent.captures();
    expect(readRaw(request.raw).body).toBe('4\r\npart\r\n0\r\nx-sum: 42\r\n\r\n');
  });

  test.each([
    ['GET', ''],
    ['POST', 'Content-Length: 4\r\n'],
  ])('a %s that announces trailers but can have none', async (method, length) => {
    const url = await tunnelTo(echo);
    const socket = dial(agent.edgeURL);
    const head = `${method} / HTTP/1.1\r\nHost: ${new URL(url).host}\r\nTrailer: X-Sum\r\nX-Kept: 1\r\n${length}`;
    socket.write(`${head}Connection: close\r\n\r\n${length && 'body'}`);
    const answered = await text(socket);
    const { body, rawHeaders } = JSON.parse(answered.slice(answered.indexOf('{')));
    expect(body).toBe(length && 'body');
    expect([headerOf(rawHeaders, 'trailer'), headerOf(rawHeaders, 'x-kept')]).toEqual([[], ['1']]);
  });

  test('Expect: 100-continue of HTTP/1.0, which knows no such answer', async () => {
    const url = await tunnelTo(echo);
    const socket = dial(agent.edgeURL);
    const head = `POST / HTTP/1.0\r\nHost: ${new URL(url).host}\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n`;
    socket.write(`${head}body`);
    expect(await text(socket)).toMatch(/^HTTP\/1.1 200 /);
  });

  test('Expect: 100-continue, so that it can refuse a body before it is sent', async () => {
    const local = await serve(echo);
    local.server.on('checkContinue', (incoming: IncomingMessage, response: ServerResponse) => {
      if (incoming.url === '/no') response.writeHead(413).end();
      else {
        response.writeContinue();
        echo(incoming, response);
      }
    });
    const { public_url: url } = await agent.tunnel({ name: 'web', proto: 'http', addr: local.addr });
    const headers = { expect: '100-continue', 'content-length': '4' };
    const welcome = agent.through(`${url}/yes`, { method: 'POST', headers });
    welcome.flushHeaders();
    await once(welcome, 'continue');
    welcome.end('body');
    expect(JSON.parse(await text(await answerTo(welcome)))).toMatchObject({ body: 'body' });
    const refused = agent.through(`${url}/no`, { method: 'POST', headers });
    refused.flushHeaders();
    expect((await answerTo(refused)).statusCode).toBe(413);
    refused.destroy();
  });
});

describe('what the client sees', () => {
  test('status, message, headers and trailers as they were sent', async () => {
    const url = await tunnelTo((_, response) => {
      response.sendDate = false;
      response.writeHead(
        299,
        'Quite So',
        [
          ['Set-Cookie', 'a=1'],
          ['Set-Cookie', 'b=2'],
          ['X-MiXed', 'ü'],
          ['Trailer', 'X-End'],
        ].flat(),
      );
      response.write('x');
      response.addTrailers({ 'X-End': 'yes' });
      response.end('y');
    });
    const answer = await answerTo(agent.through(url).end());
    expect(await text(answer)).toBe('xy');
    expect(answer).toMatchObject({ statusCode: 299, statusMessage: 'Quite So', trailers: { 'x-end': 'yes' } });
    expect(headerOf(answer.rawHeaders, 'set-cookie')).toEqual(['a=1', 'b=2']);
    expect(answer.rawHeaders).toEqual(expect.arrayContaining(['X-MiXed']));
    expect(headerOf(answer.rawHeaders, 'date')).toEqual([]);
    const [{ response }] = await agent.captures();
    expect(response).toMatchObject({
      status: '299 Quite So',
      status_code: 299,
      headers: { 'Set-Cookie': ['a=1', 'b=2'] },
    });
    expect(readRaw(response.raw).body).toBe('1\r\nx\r\n1\r\ny\r\n0\r\nX-End: yes\r\n\r\n');
  });

  test.each(nonASCII)('a file name that is not ASCII behind a length: %s', async (_, name) => {
    const disposition = `attachment; filename="${name}"`;
    const local = await serve(() => {});
    local.server.removeAllListeners('connection').on('connection', (socket: Socket) => {
      const bytes = `HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Disposition: ${disposition}\r\n\r\nhi`;
      socket.once('data', () => socket.end(bytes));
    });
    const { public_url: url } = await agent.tunnel({ name: 'web', proto: 'http', addr: local.addr });
    const answer = await agent.visit(url);
    expect(answer).toMatchObject({ status: 200, text: 'hi' });
    const [seen = ''] = headerOf(answer.rawHeaders, 'content-disposition');
    expect(Buffer.from(seen, 'latin1').toString()).toBe(disposition);
  });

  test.each([204, 304])('%i without a body, then the next answer on the same connection', async (status) => {
    const url = await tunnelTo((incoming, response) => {
      if (incoming.url === '/next') response.end('next');
      else response.writeHead(status).end();
    });
    const keepAlive = new Agent({ keepAlive: true, maxSockets: 1 });
    for (const [path, body] of [
      ['/', ''],
      ['/next', 'next'],
    ] as const) {
      expect(await text(await answerTo(agent.through(url + path, { agent: keepAlive }).end()))).toBe(body);
    }
    const { conns, http } = (await agent.call('GET', '/api/tunnels/web')).body.metrics;
    expect({ conns: conns.count, http: http.count }).toEqual({ conns: 1, http: 2 });
    keepAlive.destroy();
  });

  test('every header of a message, however many, both ways', async () => {
    const many = Array.from({ length: 1_200 }, (_, at) => [`X-${at}`, 'v']).flat();
    const local = await serve((incoming, response) => {
      const received = incoming.rawHeaders.filter((text) => text.startsWith('X-'));
      response.writeHead(200, [...many, 'Content-Length', '5']);
      text(incoming).then((body) => response.end(body + (received.length - 3)));
    });
    local.server.maxHeadersCount = 0;
    const { public_url: url } = await agent.tunnel({ name: 'web', proto: 'http', addr: local.addr });
    const socket = dial(agent.edgeURL);
    const sent = Array.from({ length: 1_200 }, (_, at) => `X-${at}: v\r\n`).join('');
    socket.write(
      `POST / HTTP/1.1\r\nHost: ${new URL(url).host}\r\n${sent}Content-Length: 1\r\nConnection: close\r\n\r\nb`,
    );
    const answer = await text(socket);
    expect([answer.match(/^X-\d+: v\r$/gm)?.length, answer.endsWith('\r\n\r\nb1200')]).toEqual([1_200, true]);
  });

  test('HEAD has the length of a GET and no body', async () => {
    const url = await tunnelTo((_, response) => response.writeHead(200, { 'content-length': '1234' }).end());
    const answer = await agent.visit(url, { method: 'HEAD' });
    expect(answer).toMatchObject({ status: 200, text: '' });
    expect(answer.headers['content-length']).toBe('1234');
  });

  const announced = 'Trailer: X-Sum\r\nX-Kept: 1\r\n';
  const whole = `HTTP/1.1 200 OK\r\n${announced}Content-Length: 2\r\n\r\nok`;
  const inChunks = `HTTP/1.1 200 OK\r\n${announced}Transfer-Encoding: chunked\r\n\r\n`;
  test.each([
    ['of a length', whole, 'GET', '1.1', 200, 'ok'],
    ['of a length to a client of HTTP/1.0', whole, 'GET', '1.0', 200, 'ok'],
    ['with a trailer to a client of HTTP/1.0', `${inChunks}2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n`, 'GET', '1.0', 200, 'ok'],
    ['to HEAD', whole.slice(0, -2), 'HEAD', '1.1', 200, ''],
    ['to HEAD that would be in chunks', inChunks, 'HEAD', '1.1', 200, ''],
    ['204', `HTTP/1.1 204 No Content\r\n${announced}\r\n`, 'GET', '1.1', 204, ''],
    ['304', `HTTP/1.1 304 Not Modified\r\n${announced}\r\n`, 'GET', '1.1', 304, ''],
  ])('an answer %s that speaks of trailers', async (_, bytes, method, version, status, body) => {
    const local = await serve(() => {});
    local.server.removeAllListeners('connection').on('connection', (socket: Socket) => {
      socket.on('error', () => {}).on('end', () => socket.end());
      socket.once('data', () => socket.write(bytes));
    });
    const { public_url: url } = await agent.tunnel({ name: 'web', proto: 'http', addr: local.addr });
    const socket = dial(agent.edgeURL);
    socket.write(`${method} / HTTP/${version}\r\nHost: ${new URL(url).host}\r\nConnection: close\r\n\r\n`);
    const [head = '', answered] = (await text(socket)).split('\r\n\r\n');
    expect([head.split(' ')[1], answered]).toEqual([String(status), body]);
    expect(head).toContain('X-Kept: 1');
    const [capture] = await agent.captures();
    expect(capture).toMatchObject({ response: { status_code: status, headers: { Trailer: ['X-Sum'] } } });
    expect(capture.error).toBeUndefined();
  });

  test.each([
    ['to HEAD with a body', 'HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody', 200, ''],
    ['204 with a body', 'GET', 'HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nbody', 204, ''],
    ['that is longer than it says', 'GET', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more', 200, 'ok'],
  ])('an answer %s, without what follows it', async (_, method, bytes, status, body) => {
    const local = await serve(() => {});
    local.server.removeAllListeners('connection').on('connection', (socket: Socket) => {
      socket.on('error', () => {}).on('end', () => socket.end());
      socket.once('data', () => socket.write(bytes));
    });
    const { public_url: url } = await agent.tunnel({ name: 'web', proto: 'http', addr: local.addr });
    expect(await agent.visit(url, { method })).toMatchObject({ status, text: body });
    expect((await agent.captures())[0].error).toBeUndefined();
  });

  test('an answer of HTTP/1.0 that ends with its connection', async () => {
    const local = await serve(() => {});
    local.server.removeAllListeners('connection').on('connection', (socket: Socket) => {
      socket.once('data', () => socket.end('HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nold and plain'));
    });
    const { public_url: url } = await agent.tunnel({ name: 'old', proto: 'http', addr: local.addr });
    expect(await agent.visit(url)).toMatchObject({ status: 200, text: 'old and plain' });
  });

  test('early hints', async () => {
    const url = await tunnelTo((_, response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' }, () => response.end('done'));
    });
    const outgoing = agent.through(url).end();
    const hints = once(outgoing, 'information');
    expect(await text(await answerTo(outgoing))).toBe('done');
    expect(await hints).toMatchObject([{ statusCode: 103, headers: { link: '</a.css>; rel=preload' } }]);
  });

  test('the head of an answer whose body has yet to come', async () => {
    const url = await tunnelTo((_, response) => {
      response.flushHeaders();
      held.push(response);
    });
    const held: ServerResponse[] = [];
    const answer = await answerTo(agent.through(url).end());
    held[0]?.end('at last');
    expect(await text(answer)).toBe('at last');
  });

  test('each part of a stream as it comes', async () => {
    const url = await tunnelTo((_, response) => {
      response.write('first');
      held.push(response);
    });
    const held: ServerResponse[] = [];
    const answer = await answerTo(agent.through(url).end());
    expect(String((await once(answer, 'data'))[0])).toBe('first');
    held[0]?.end('second');
    expect(String((await once(answer, 'data'))[0])).toBe('second');
  });

  test('a client that stops reading stops the local server (back-pressure)', async () => {
    let written = 0;
    const url = await tunnelTo((_, response) => {
      const fill = () => {
        do written += 65_536;
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      };
      response.on('drain', fill);
      fill();
    });
    const answer = await answerTo(agent.through(url).end());
    const settled = await standstill(() => written);
    expect(settled).toBeLessThan(64_000_000);
    answer.resume().on('error', () => {});
    await until('the local server to go on', () => written > settled);
    answer.destroy();
  });

  test('a local server that stops reading stops the client', async () => {
    const seen: IncomingMessage[] = [];
    const url = await tunnelTo((incoming) => seen.push(incoming));
    const outgoing = agent.through(url, { method: 'POST' });
    outgoing.on('error', () => {});
    let written = 0;
    const fill = () => {
      do written += 65_536;
      while (!outgoing.destroyed && outgoing.write(Buffer.alloc(65_536)));
    };
    outgoing.on('drain', fill);
    fill();
    await until('the request', () => seen.length > 0);
    const settled = await standstill(() => written);
    expect(settled).toBeLessThan(64_000_000);
    seen[0]?.resume().on('error', () => {});
    await until('the client to go on', () => written > settled);
    outgoing.destroy();
  });

  test('50 MB both ways, checksummed', async () => {
    const part = Buffer.alloc(1_000_000, 'edge');
    const url = await tunnelTo((incoming, response) => void incoming.pipe(response));
    const outgoing = agent.through(url, { method: 'POST' });
    const sent = createHash('sha256');
    const parts = Array.from({ length: 50 }, () => part);
    for (const each of parts) sent.update(each);
    Readable.from(parts).pipe(outgoing);
    const got = createHash('sha256');
    for await (const chunk of await answerTo(outgoing)) got.update(chunk);
    expect(got.digest('hex')).toBe(sent.digest('hex'));
    const [{ request, response }] = await agent.captures();
    expect([request.truncated, response.truncated]).toEqual([true, true]);
  });
});

describe('failures', () => {
  test('a dead local server is 502, with a page for browsers and text for others', async () => {
    const gone = await startLocal(echo);
    await gone.stop();
    const { public_url: url } = await agent.tunnel({ name: '<b>', proto: 'http', addr: gone.addr });
    const plain = await agent.visit(url, { method: 'POST', body: 'x' });
    expect(plain).toMatchObject({
      status: 502,
      text: expect.stringContaining(`${gone.addr} cannot be reached: ECONNREFUSED`),
    });
    const page = await agent.visit(url, { headers: { accept: 'text/html,*/*' } });
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    const [capture] = await agent.captures();
    expect(capture).toMatchObject({ error: 'local server: ECONNREFUSED', response: { status: '502 Bad Gateway' } });
  });

  test('a host without a tunnel is 404, and what it names is no markup', async () => {
    const headers = { host: '<script>.localhost', accept: 'text/html' };
    const answer = await agent.visit('http://none.localhost/', { headers });
    expect(answer.status).toBe(404);
    expect(answer.text).toContain('&lt;script&gt;');
    expect(answer.text).not.toContain('<script>');
  });

  test('a local server that breaks off its answer breaks the connection to the client', async () => {
    const url = await tunnelTo((_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('part', () => response.destroy());
    });
    const answer = await answerTo(agent.through(url).end());
    await expect(text(answer)).rejects.toThrow('aborted');
    expect(await finished()).toMatchObject({
      error: expect.stringMatching(/^local server: /),
      response: { status_code: 200 },
    });
  });

  test('a local server that breaks off resets a client of HTTP/1.0, for which an end is the end of the answer', async () => {
    const { host } = new URL(await tunnelTo((_, response) => response.write('half', () => response.destroy())));
    const socket = dial(agent.edgeURL);
    socket.write(`GET / HTTP/1.0\r\nHost: ${host}\r\n\r\n`);
    await expect(text(socket)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  test('a local server that closes without an answer is 502', async () => {
    const url = await tunnelTo((incoming) => incoming.socket.destroy());
    expect((await agent.visit(url)).status).toBe(502);
  });

  test.each([
    [
      'a control character in its status',
      'HTTP/1.1 200 O\x01K\r\nContent-Length: 2\r\n\r\nok',
      'Invalid character in statusMessage',
    ],
    ['a status of 000', 'HTTP/1.1 000 X\r\nContent-Length: 2\r\n\r\nok', 'Invalid status code: 0'],
    ['an upgrade nobody asked for', 'HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n', 'another protocol'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok', 'HPE_'],
    ['a head of over 64 kB', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`, 'HPE_HEADER_OVERFLOW'],
    ['what is no HTTP', 'hello\r\n\r\n', 'HPE_'],
    [
      'another transfer coding',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
      'other than chunked',
    ],
  ])('an answer with %s is 502', async (_, bytes, why) => {
    const local = await serve(() => {});
    local.server.removeAllListeners('connection').on('connection', (socket: Socket) => {
      socket.on('error', () => {}).on('end', () => socket.end());
      socket.once('data', () => socket.write(Buffer.from(bytes, 'latin1')));
    });
    const { public_url: url } = await agent.tunnel({ name: 'web', proto: 'http', addr: local.addr });
    const answer = await agent.visit(url);
    expect(answer.status).toBe(502);
    expect(answer.text).toMatch(`gave no answer that can be passed on: `);
    expect(answer.text).toContain(why);
    expect(await finished()).toMatchObject({ response: { status_code: 502 }, error: expect.stringContaining(why) });
  });

  test('a client that goes away ends the request to the local server', async () => {
    const seen: IncomingMessage[] = [];
    const url = await tunnelTo((incoming) => seen.push(incoming));
    const outgoing = agent.through(url, { method: 'POST' });
    outgoing.on('error', () => {});
    outgoing.write('begun');
    const incoming = await until('the request', () => seen[0]);
    incoming.on('error', () => {});
    const closed = new Promise((resolve) => incoming.once('close', resolve));
    outgoing.destroy();
    await closed;
    expect(await finished()).toMatchObject({ error: 'the client closed the connection', response: null });
    const [{ id }] = await agent.captures();
    const replay = await agent.call('POST', '/api/requests/http', { id });
    expect(replay).toMatchObject({ status: 400, body: { details: { err: 'the request has not arrived whole' } } });
  });

  test('a client that goes away in the middle of an answer ends it', async () => {
    const answers: ServerResponse[] = [];
    const url = await tunnelTo((_, response) => {
      answers.push(response);
      response.write('begun');
    });
    const answer = await answerTo(agent.through(url).end());
    answer.on('error', () => {});
    const closed = once(answers[0] as ServerResponse, 'close');
    answer.destroy();
    await closed;
    expect(await finished()).toMatchObject({
      error: 'the client closed the connection',
      response: { status_code: 200 },
    });
  });

  test('an idle connection that the local server closed is no failure', async () => {
    const sockets: Socket[] = [];
    const local = await serve(echo);
    local.server.on('connection', (socket) => sockets.push(socket));
    const { public_url: url } = await agent.tunnel({ name: 'web', proto: 'http', addr: local.addr });
    for (let round = 1; round <= 5; round += 1) {
      expect((await agent.visit(url)).status).toBe(200);
      sockets.at(-1)?.destroy();
    }
    expect(sockets.length).toBe(5);
  });

  test('a connection that was idle for long is not used again: the local server may be closing it', async () => {
    let later = 0;
    const slow = await startTestAgent({}, { ticks: () => performance.now() + later });
    const local = await serve(echo);
    const opened: Socket[] = [];
    local.server.on('connection', (socket) => opened.push(socket));
    const { public_url: url } = await slow.tunnel({ name: 'web', proto: 'http', addr: local.addr });
    await slow.visit(url);
    later += 2_000;
    expect((await slow.visit(url, { method: 'POST', body: 'x' })).status).toBe(200);
    expect(opened).toHaveLength(2);
    await until('the old one to close', () => opened[0]?.destroyed);
    await slow.close();
  });

  describe('an agent that ends', () => {
    /** An answer that has begun, and what ends it. */
    const underWay = async () => {
      const own = await startTestAgent();
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      const local = await serve((_request, response) => {
        response.write('begun');
        void ended.then(() => response.end(', ended'));
      });
      const { public_url: url } = await own.tunnel({ name: 'web', proto: 'http', addr: local.addr });
      const request = own.through(url).end();
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      return { own, url, end, response };
    };

    test('has answers end that are under way, and takes no further connection', async () => {
      const { own, url, end, response } = await underWay();
      const closed = own.close(60_000);
      await expect(own.visit(url)).rejects.toThrow('ECONNREFUSED');
      end();
      expect(await text(response)).toBe('begun, ended');
      await closed;
    });

    test('takes no call of its API, and no connection of its tcp tunnels, meanwhile', async () => {
      const { own, end, response } = await underWay();
      const { public_url: tcp } = await own.tunnel({ name: 'db', proto: 'tcp', addr: '1' });
      const closed = own.close(60_000);
      await expect(own.call('GET', '/api/status')).rejects.toThrow();
      const refused = await once(dial(tcp), 'connect').catch((error) => error);
      expect(refused).toMatchObject({ code: 'ECONNREFUSED' });
      end();
      expect(await text(response)).toBe('begun, ended');
      await closed;
    });

    test('has all answers end that a connection is owed', async () => {
      const own = await startTestAgent();
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      let seen = 0;
      const local = await serve((request, response) => {
        seen += 1;
        void ended.then(() => response.end(request.url));
      });
      const { public_url: url } = await own.tunnel({ name: 'web', proto: 'http', addr: local.addr });
      const { host } = new URL(url);
      const socket = dial(own.edgeURL);
      const read = text(socket);
      for (const path of ['/a', '/b']) socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      await until('both requests', () => seen === 2);
      const closed = own.close(60_000);
      end();
      expect(await read).toMatch(/\/a.*\/b$/s);
      await closed;
    });

    test('cuts those that take too long', async () => {
      const { own, response } = await underWay();
      const [read] = await Promise.allSettled([text(response), own.close(50)]);
      expect(read).toMatchObject({ status: 'rejected', reason: { code: 'ECONNRESET' } });
    });
  });

  describe.each([
    ['http', ''],
    ['https', 'https://'],
  ])('what a local server says of its connections, by %s', (_, scheme) => {
    /** How many connections as many requests take, one after the other with these pauses. */
    async function connectionsFor(keepAlive: string | readonly string[], pausesMs: readonly number[]): Promise<number> {
      let later = 0;
      const patient = await startTestAgent({}, { ticks: () => performance.now() + later });
      const listener: RequestListener = (incoming, response) => {
        incoming
          .resume()
          .on('end', () => response.setHeader('keep-alive', keepAlive).setHeader('connection', 'keep-alive').end());
      };
      const { key, certificate } = createCertificate('127.0.0.1', Date.now());
      const server = scheme === '' ? createServer(listener) : createTlsServer({ key, cert: certificate }, listener);
      let opened = 0;
      server.on('connection', () => {
        opened += 1;
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const addr = `${scheme}localhost:${(server.address() as AddressInfo).port}`;
      const tunnel = { name: 'web', proto: 'http', addr, ...(scheme && { verify_upstream_tls: false }) };
      const { public_url: url } = await patient.tunnel(tunnel);
      try {
        for (const pauseMs of [0, ...pausesMs]) {
          later += pauseMs;
          expect((await patient.visit(url, { method: 'POST', body: 'x' })).status).toBe(200);
        }
        return opened;
      } finally {
        await patient.close();
        server.close();
        server.closeAllConnections();
      }
    }

    test.each([
      ['nothing of use', 'x', [100, 1_000], 1],
      ['nothing of use, and it was idle for long', 'x', [100, 2_000], 2],
      ['a long time', 'timeout=60', [100, 1_000, 2_000], 2],
      ['the shortest time', 'timeout=1', [0, 0, 0], 4],
      ['no time at all', 'timeout=0', [0], 2],
      ['a short time', 'timeout=2', [500, 500, 1_200], 2],
      ['a short time after its number of requests', 'max=9, Timeout = "2"', [500, 1_200], 2],
      ['a time in one of two headers', ['max=9', 'timeout=1'], [0, 0], 3],
      ['no further request', 'timeout=60, max=0', [0, 0], 3],
      ['two requests', 'max=2', [0, 0, 0], 2],
    ])('%s', async (_, keepAlive, pausesMs, connections) => {
      expect(await connectionsFor(keepAlive, pausesMs)).toBe(connections);
    });
  });

  test('connections to the local server are used again, and not more than 256 are kept', async () => {
    const local = await serve(echo);
    const { public_url: url } = await agent.tunnel({ name: 'web', proto: 'http', addr: local.addr });
    for (let round = 0; round < 5; round += 1) expect((await agent.visit(url)).status).toBe(200);
    const open = () => promisify(local.server.getConnections.bind(local.server))();
    expect(await open()).toBe(1);
    const held: ServerResponse[] = [];
    local.server.removeAllListeners('request').on('request', (_, response) => held.push(response));
    const visits = Array.from({ length: 300 }, () => agent.visit(url));
    await until('all at once', () => held.length === 300);
    for (const response of held) response.end();
    await Promise.all(visits);
    await until('the rest to close', async () => (await open()) === 256);
  });

  test('an answer that comes before the body leaves the connection in order', async () => {
    const url = await tunnelTo((incoming, response) => {
      if (incoming.method === 'POST') response.writeHead(413).end('too much');
      else response.end('next');
    });
    const keepAlive = new Agent({ keepAlive: true, maxSockets: 1 });
    const post = { method: 'POST', headers: { 'content-length': '3000000' }, agent: keepAlive };
    const outgoing = agent.through(url, post);
    outgoing.write(Buffer.alloc(1_000_000));
    const answer = await answerTo(outgoing);
    expect([answer.statusCode, await text(answer)]).toEqual([413, 'too much']);
    outgoing.end(Buffer.alloc(2_000_000));
    expect(await text(await answerTo(agent.through(url, { agent: keepAlive }).end()))).toBe('next');
    expect((await agent.call('GET', '/api/tunnels/web')).body.metrics.conns.count).toBe(1);
    keepAlive.destroy();
  });

  const onLinux = process.platform === 'linux' ? test : test.skip;

  onLinux('peers are probed, so that what is left of connections of those that vanished goes', async () => {
    const local = await serve((_, response) => void response.write('begun'));
    const { public_url: url } = await agent.tunnel({ name: 'web', proto: 'http', addr: local.addr });
    const answer = await answerTo(agent.through(url).end());
    await once(answer, 'data');
    const { port } = new URL(agent.edgeURL);
    await until('probes', async () => (await isProbed(Number(port), 120)) && isProbed(local.port, 120));
    answer.destroy();
  });

  describe('an answer that comes before the end of the body', () => {
    const answersAtOnce: RequestListener = (incoming, response) => {
      incoming.resume();
      response.end(incoming.url);
    };
    const begin = (url: string, more: object = {}) => {
      const outgoing = agent.through(`${url}/early`, {
        method: 'POST',
        headers: { 'content-length': '1000' },
        ...more,
      });
      outgoing.write('begun');
      return outgoing;
    };

    test('is the last on its connection: the next request would be taken for the body', async () => {
      const url = await tunnelTo(answersAtOnce);
      const keepAlive = new Agent({ keepAlive: true, maxSockets: 1 });
      const outgoing = begin(url, { agent: keepAlive });
      expect(await text(await answerTo(outgoing))).toBe('/early');
      outgoing.end(Buffer.alloc(995));
      // When the connection has an answer to more, the edge has had all of that body.
      await text(await answerTo(agent.through('http://none.localhost', { agent: keepAlive }).end()));
      expect((await agent.visit(`${url}/next`)).text).toBe('/next');
      keepAlive.destroy();
    });

    onLinux('passes also where the local server has closed and the body is still being sent', async () => {
      const url = await tunnelTo(({ socket }) => {
        // What the agent reads first is what it cannot send on any more.
        client.write(Buffer.alloc(100_000));
        socket.write('HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 8\r\n\r\ntoo much');
        socket.resetAndDestroy();
      });
      const client = dial(agent.edgeURL);
      client.write(`POST / HTTP/1.1\r\nHost: ${new URL(url).host}\r\nContent-Length: 1000000\r\n\r\nbegun`);
      const [answer] = (await once(client, 'data')) as [Buffer];
      expect(String(answer)).toMatch(/^HTTP\/1\.1 413 Too Large\r\n[\s\S]*\r\n\r\ntoo much$/);
      client.destroy();
    });

    test('leaves the whole body in the capture, so that a replay does not send a part for all of it', async () => {
      const url = await tunnelTo(answersAtOnce);
      const keepAlive = new Agent({ keepAlive: true, maxSockets: 1 });
      const outgoing = begin(url, { agent: keepAlive });
      await text(await answerTo(outgoing));
      const [{ id }] = await agent.captures();
      const replay = () => agent.call('POST', '/api/requests/http', { id });
      expect(await replay()).toMatchObject({
        status: 400,
        body: { details: { err: 'the request has not arrived whole' } },
      });
      outgoing.end(Buffer.alloc(995));
      await until('the whole body', async () => (await replay()).status === 204);
      const copy = (await agent.captures()).find((one) => one.replay_of === id);
      expect(copy).toMatchObject({ request: { headers: { 'Content-Length': ['1000'] } } });
      keepAlive.destroy();
    });

    test('ends the connection of a replay whose body is not read', async () => {
      const local = await serve((incoming, response) => {
        incoming.resume().on('end', () => response.setHeader('connection', 'close').end());
      });
      const { public_url: url } = await agent.tunnel({ name: 'web', proto: 'http', addr: local.addr });
      await agent.visit(url, { method: 'POST', body: Buffer.alloc(6_000_000) });
      const closed = new Promise((resolve) => {
        local.server.removeAllListeners('connection').once('connection', (socket: Socket) => {
          socket.on('error', resolve).on('end', () => resolve(socket.end()));
          socket.once('data', () => socket.pause().write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
          connected.push(socket);
        });
      });
      const connected: Socket[] = [];
      const [{ id }] = await agent.captures();
      await agent.call('POST', '/api/requests/http', { id });
      await until('the end of the replay', async () => {
        const [{ uri, replay_of: of }] = await agent.captures('?limit=1');
        return (
          of === id && (await agent.call('GET', uri.replace('/api/requests/http', '/inspect/requests'))).body.ended
        );
      });
      connected[0]?.resume();
      await closed;
    });

    test('ends the connection to the local server, whatever becomes of the body', async () => {
      const local = await serve(answersAtOnce);
      const { public_url: url } = await agent.tunnel({ name: 'web', proto: 'http', addr: local.addr });
      local.server.keepAliveTimeout = 0;
      const closed = new Promise((resolve) => local.server.once('connection', (socket) => socket.on('close', resolve)));
      const outgoing = begin(url).on('error', () => {});
      expect(await text(await answerTo(outgoing))).toBe('/early');
      await closed;
      outgoing.destroy();
    });
  });

  test('stopping the tunnel cuts what is under way', async () => {
    const url = await tunnelTo((_, response) => void response.write('begun'));
    const answer = await answerTo(agent.through(url).end());
    await once(answer, 'data');
    const broken = expect(text(answer)).rejects.toThrow('aborted');
    await agent.call('DELETE', '/api/tunnels/web');
    await broken;
    expect(await finished()).toMatchObject({ error: 'the tunnel was stopped' });
  });

  const chunks = '3\r\nabc\r\n0\r\n\r\n';

  test.each([
    ['two Hosts', 'POST / HTTP/1.1\r\nHost: HOST\r\nHost: other\r\nContent-Length: 3\r\n\r\nabc'],
    ['a Host twice', 'GET / HTTP/1.1\r\nHost: HOST\r\nhOST: HOST\r\n\r\n'],
    ['two Hosts and a URL', 'GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n\r\n'],
    [
      'two Hosts and an upgrade',
      'GET / HTTP/1.1\r\nHost: HOST\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
    ],
    ['no Host', 'GET http://HOST/ HTTP/1.1\r\n\r\n'],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc'],
    [
      'a length and chunks',
      `POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`,
    ],
    [
      'chunks and a length',
      `POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n${chunks}`,
    ],
    ['a coding that is not chunked', 'POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: identity\r\n\r\nabc'],
    ['chunked in quotes', `POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: "chunked"\r\n\r\n${chunks}`],
    ['a coding after chunked', `POST / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked, gzip\r\n\r\n${chunks}`],
    ['chunks in HTTP/1.0', `POST / HTTP/1.0\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`],
  ])('%s is 400, the last on its connection, and never passed on', async (_, sent) => {
    let passedOn = 0;
    const local = await serve(echo);
    local.server.on('connection', () => (passedOn += 1));
    const { public_url: url } = await agent.tunnel({ name: 'web', proto: 'http', addr: local.addr });
    const socket = dial(agent.edgeURL);
    socket.write(sent.replaceAll('HOST', new URL(url).host));
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 .*\r\nConnection: close\r\n/s);
    expect((await agent.visit(url)).status).toBe(200);
    expect(passedOn).toBe(1);
  });

  test('a client that is told 400 has it, however large its body', async () => {
    const { host } = new URL(await tunnelTo(echo));
    const answers = Array.from({ length: 8 }, () => {
      const socket = dial(agent.edgeURL).on('error', () => {});
      socket.write(`POST / HTTP/1.1\r\nHost: ${host}\r\nHost: ${host}\r\nContent-Length: 8000000\r\n\r\n`);
      socket.write(Buffer.alloc(8_000_000));
      return text(socket).catch(() => 'reset');
    });
    expect(await Promise.all(answers)).toEqual(answers.map(() => expect.stringMatching(/^HTTP\/1\.1 400 /)));
  });

  test('CONNECT is 405', async () => {
    const { host } = new URL(await tunnelTo(echo));
    const socket = dial(agent.edgeURL);
    socket.write(`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 405 .*\r\nConnection: close\r\n/s);
  });

  test('CONNECT where another answer is owed closes the connection', async () => {
    const { host } = new URL(await tunnelTo(() => {}));
    const socket = dial(agent.edgeURL);
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\nCONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    expect(await text(socket)).toBe('');
  });

  test('a request that is no HTTP is 400', async () => {
    const socket = dial(agent.edgeURL);
    socket.end('nonsense\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('upgrades', () => {
  const upgrade = (url: string, more: object = {}) =>
    agent.through(url, { headers: { connection: 'Upgrade', upgrade: 'echo', ...more } });

  async function echoServer(): Promise<LocalServer> {
    const local = await serve((_, response) => response.writeHead(426).end('upgrade needed'));
    local.server.on('upgrade', (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
      if (incoming.url === '/no') socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
      else {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\nX-Kept: 1\r\n\r\n');
        socket.write(head);
        socket.pipe(socket);
      }
    });
    return local;
  }

  test('bytes pass both ways until both ends close', async () => {
    const local = await echoServer();
    const { public_url: url, uri } = await agent.tunnel({ name: 'ws', proto: 'http', addr: local.addr });
    const [answer, socket] = (await once(upgrade(url).end(), 'upgrade')) as [IncomingMessage, Socket];
    expect(answer).toMatchObject({ statusCode: 101, headers: { upgrade: 'echo', 'x-kept': '1' } });
    const sent = Buffer.alloc(3_000_000, 'frame');
    socket.end(sent);
    expect((await buffer(socket)).equals(sent)).toBe(true);
    const [capture] = await agent.captures();
    expect(capture).toMatchObject({ response: { status_code: 101 }, request: { headers: { upgrade: ['echo'] } } });
    expect((await agent.call('GET', uri)).body.metrics.http.count).toBe(1);
    const replay = await agent.call('POST', '/api/requests/http', { id: capture.id });
    expect(replay).toMatchObject({ status: 400, body: { details: { err: expect.stringContaining('upgrade') } } });
  });

  test('an end of one direction leaves the other open, whoever ends first', async () => {
    const local = await serve(() => {});
    local.server.on('upgrade', async (_: IncomingMessage, socket: Socket) => {
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nall I have to say');
      heard.push(await text(socket));
    });
    const heard: string[] = [];
    const { public_url: url } = await agent.tunnel({ name: 'ws', proto: 'http', addr: local.addr });
    const socket = dial(url.replace('ws.localhost', '127.0.0.1'));
    socket.write(`GET / HTTP/1.1\r\nHost: ${new URL(url).host}\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`);
    socket.allowHalfOpen = true;
    expect(await text(socket)).toMatch(/all I have to say$/);
    socket.end('said after the end');
    await until('what was said', () => heard.includes('said after the end'));
  });

  test('WebSocket', async () => {
    const local = await serve((_, response) => response.writeHead(426).end());
    local.server.on('upgrade', ({ headers }: IncomingMessage, socket: Socket) => {
      const accept = hash('sha1', `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`, 'base64');
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n`);
      socket.write(`Sec-WebSocket-Accept: ${accept}\r\n\r\n`);
      socket.once('end', () => socket.end());
      socket.once('data', () => socket.write(Buffer.from([0x81, 5, ...Buffer.from('hello')])));
    });
    const { public_url: url } = await agent.tunnel({ name: 'ws', proto: 'http', addr: local.addr });
    const lookup: LookupFunction = (_, __, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
    const dispatcher = new Dialer({ connect: { lookup } });
    const client = new WebSocket(url.replace('http', 'ws'), { dispatcher });
    client.addEventListener('open', () => client.send('hi'));
    const [{ data }] = (await once(client, 'message')) as [MessageEvent];
    expect(data).toBe('hello');
    await dispatcher.destroy();
  });

  test('what the client sends along with its request is not lost', async () => {
    const local = await echoServer();
    const { public_url: url } = await agent.tunnel({ name: 'ws', proto: 'http', addr: local.addr });
    const socket = dial(agent.edgeURL);
    socket.write(`GET / HTTP/1.1\r\nHost: ${new URL(url).host}\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nearly`);
    let got = '';
    socket.on('data', (chunk) => {
      got += chunk;
    });
    await until('the echo', () => got.endsWith('\r\n\r\nearly'));
    socket.destroy();
  });

  test.each([1_000, 3_000_000])('nor what it sends until it is answered: %i bytes', async (size) => {
    const local = await serve(() => {});
    const agreed: (() => void)[] = [];
    local.server.on('upgrade', (_, socket: Socket, head: Buffer) => {
      agreed.push(() => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
        socket.write(head);
        socket.pipe(socket);
      });
    });
    const { public_url: url } = await agent.tunnel({ name: 'ws', proto: 'http', addr: local.addr });
    const socket = dial(agent.edgeURL);
    socket.write(`GET / HTTP/1.1\r\nHost: ${new URL(url).host}\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nfirst`);
    const agree = await until('the request', () => agreed[0]);
    const sent = Buffer.alloc(size, 'early');
    socket.write(sent);
    await standstill(() => socket.bytesWritten - socket.writableLength);
    agree();
    socket.end('last');
    const got = await buffer(socket);
    const body = got.subarray(got.indexOf('\r\n\r\n') + 4);
    expect(body.equals(Buffer.concat([Buffer.from('first'), sent, Buffer.from('last')]))).toBe(true);
  });

  test('a refusal is an ordinary answer', async () => {
    const local = await echoServer();
    const { public_url: url } = await agent.tunnel({ name: 'ws', proto: 'http', addr: local.addr });
    const answer = await answerTo(upgrade(`${url}/no`).end());
    expect([answer.statusCode, await text(answer)]).toEqual([403, 'no']);
  });

  test('an ordinary answer to one is passed on whole, however long', async () => {
    const url = await tunnelTo((_, response) => response.end(Buffer.alloc(5_000_000)));
    const answer = await answerTo(upgrade(url).end());
    expect([answer.statusCode, (await buffer(answer)).length]).toEqual([200, 5_000_000]);
  });

  test('HTTP/2 is not tried: the request is served as it is, with its body, and can be replayed', async () => {
    const url = await tunnelTo(echo);
    const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAA' };
    expect(JSON.parse((await agent.visit(url, { method: 'POST', headers, body: 'x' })).text)).toMatchObject({
      body: 'x',
    });
    const [{ id }] = await agent.captures();
    expect((await agent.call('POST', '/api/requests/http', { id })).status).toBe(204);
    const { request } = await until('the replay', async () =>
      (await agent.captures()).find((one) => one.replay_of === id),
    );
    expect(request).toMatchObject({ method: 'POST', uri: '/' });
  });

  test.each(['ws', 'none'])('one to %s, sent while another request is under way, is served as it is', async (name) => {
    const local = await serve((_, response) => void setImmediate(() => response.end('plain')));
    const { public_url: url } = await agent.tunnel({ name: 'ws', proto: 'http', addr: local.addr });
    const { host, port } = new URL(url);
    const socket = dial(agent.edgeURL);
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    socket.write(
      `GET / HTTP/1.1\r\nHost: ${name}.localhost:${port}\r\nConnection: Upgrade, close\r\nUpgrade: echo\r\n\r\n`,
    );
    const statuses = [...(await text(socket)).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses).toEqual(['200', name === 'ws' ? '200' : '404']);
  });

  test('a dead local server is 502, an unknown host 404', async () => {
    const gone = await startLocal(echo);
    await gone.stop();
    const { public_url: url } = await agent.tunnel({ name: 'ws', proto: 'http', addr: gone.addr });
    expect((await answerTo(upgrade(url).end())).statusCode).toBe(502);
    expect((await answerTo(upgrade('http://none.localhost').end())).statusCode).toBe(404);
  });

  test.each([0, 1_000])('a client that closes its side before the answer waits for none, %i bytes on', async (more) => {
    const local = await serve(() => {});
    const closed = new Promise((resolve) => {
      local.server.on('upgrade', (_, socket: Socket) => socket.on('end', () => resolve(socket.end())).resume());
    });
    const { public_url: url } = await agent.tunnel({ name: 'ws', proto: 'http', addr: local.addr });
    const socket = dial(agent.edgeURL);
    socket.write(`GET / HTTP/1.1\r\nHost: ${new URL(url).host}\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`);
    await until('the request', async () => (await agent.captures()).length > 0);
    socket.end(Buffer.alloc(more));
    await closed;
    expect(await finished()).toMatchObject({ response: null, error: 'the client closed the connection' });
  });

  test('a refusal is the end of its connection, also where the client keeps its side open', async () => {
    const own = await startTestAgent();
    const socket = dial(own.edgeURL);
    socket.allowHalfOpen = true;
    socket.write('GET / HTTP/1.1\r\nHost: none.localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 404 /);
    await own.close();
    socket.destroy();
  });

  test('stopping the tunnel closes them', async () => {
    const local = await echoServer();
    const { public_url: url } = await agent.tunnel({ name: 'ws', proto: 'http', addr: local.addr });
    const [, socket] = (await once(upgrade(url).end(), 'upgrade')) as [IncomingMessage, Socket];
    const closed = once(socket.resume(), 'close');
    await agent.call('DELETE', '/api/tunnels/ws');
    await closed;
  });
});

describe('a local server with TLS', () => {
  const servers: Server[] = [];

  afterEach(() => {
    for (const server of servers.splice(0)) server.close().closeAllConnections();
  });

  /** A server that answers with the name that it was asked for. */
  async function listening(): Promise<number> {
    const { key, certificate: cert } = createCertificate('127.0.0.1', Date.now());
    const server = createTlsServer({ key, cert }, ({ socket }, response) => {
      response.end(String((socket as TLSSocket).servername));
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }

  test.each([
    [true, 502],
    [false, 200],
  ])('verify_upstream_tls %s: a certificate nobody vouches for is %i', async (verify, status) => {
    const addr = `https://localhost:${await listening()}`;
    const { public_url: url } = await agent.tunnel({ name: 'tls', proto: 'http', addr, verify_upstream_tls: verify });
    expect((await agent.visit(url)).status).toBe(status);
  });

  test('of a certificate that is not trusted the page and the capture say what takes it', async () => {
    const addr = `https://localhost:${await listening()}`;
    const { public_url: url } = await agent.tunnel({ name: 'tls', proto: 'http', addr });
    const why = 'DEPTH_ZERO_SELF_SIGNED_CERT (the tunnel takes any certificate with verify_upstream_tls: false)';
    expect((await agent.visit(url)).text).toContain(`passed on: ${why}.\n`);
    const [capture] = await agent.captures();
    expect(capture).toMatchObject({ error: `local server: ${why}` });
  });

  test.each([
    ['127.0.0.1', {}, 'false'],
    ['127.0.0.1', { host_header: 'rewrite' }, 'false'],
    ['127.0.0.1', { host_header: '[::1]:8443' }, 'false'],
    ['127.0.0.1', { host_header: 'app.test:8443' }, 'app.test'],
    ['localhost', {}, 'localhost'],
  ])('at %s, with %j, is asked for by the name %s: an address is none', async (host, more, name) => {
    const addr = `https://${host}:${await listening()}`;
    const definition = { name: 'tls', proto: 'http', addr, verify_upstream_tls: false, ...more };
    const { public_url: url } = await agent.tunnel(definition);
    expect((await agent.visit(url)).text).toBe(name);
  });
});

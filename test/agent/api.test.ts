import { once } from 'node:events';
import { request, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { bodiless, rawRequest, unreadable } from '../support/raw-request.ts';
import { until } from '../support/until.ts';
import {
  answerTo,
  dial,
  echo,
  type LocalServer,
  readRaw,
  startLocal,
  startTestAgent,
  type TestAgent,
} from './support.ts';

let agent: TestAgent;
let local: LocalServer;

beforeAll(async () => {
  local = await startLocal(echo);
  agent = await startTestAgent({ region: 'eu' });
});
afterEach(async () => {
  for (const { uri } of (await agent.call('GET', '/api/tunnels')).body.tunnels) await agent.call('DELETE', uri);
  await agent.call('DELETE', '/api/requests/http');
});
afterAll(async () => {
  await agent.close();
  await local.stop();
});

const web = (more: object = {}) => agent.tunnel({ name: 'web', proto: 'http', addr: local.addr, ...more });
const error = (number: number, status: number, err: string) => ({
  status,
  body: {
    error_code: number,
    status_code: status,
    msg: expect.stringMatching(/./),
    details: { err: expect.stringContaining(err) },
  },
});

describe('GET /api/', () => {
  test.each(['/api/', '/api'])('%s links to what there is', async (path) => {
    const answer = await agent.call('GET', path);
    expect(answer.status).toBe(200);
    expect(answer.body).toStrictEqual({
      uri: '/api/',
      tunnels_uri: '/api/tunnels',
      requests_uri: '/api/requests/http',
      status_uri: '/api/status',
    });
  });
});

describe('GET /api/status', () => {
  test('has the agent status of section 2', async () => {
    const answer = await agent.call('GET', '/api/status');
    expect(answer.status).toBe(200);
    expect(answer.body).toStrictEqual({
      status: 'online',
      agent_version: '1.2.3',
      session: { legs: [{ region: 'eu', latency: expect.stringMatching(/^\d+\.\d{3}ms$/) }] },
      uri: '/api/status',
    });
  });
});

describe('POST /api/tunnels', () => {
  const percentiles = { p50: 0, p90: 0, p95: 0, p99: 0 };
  const rates = { rate1: 0, rate5: 0, rate15: 0 };

  test('answers 201 with the tunnel of section 2 (rule 3: inspect as configured, a generated public_url)', async () => {
    const answer = await agent.call('POST', '/api/tunnels', {
      name: 'web',
      proto: 'http',
      addr: local.addr,
      inspect: false,
    });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.body).toStrictEqual({
      name: 'web',
      uri: '/api/tunnels/web',
      public_url: `http://web.localhost:${new URL(agent.edgeURL).port}`,
      proto: 'http',
      config: { addr: local.addr, inspect: false },
      metrics: {
        conns: { count: 0, gauge: 0, ...rates, ...percentiles },
        http: { count: 0, ...rates, ...percentiles },
      },
    });
  });

  test.each([
    ['tcp', /^tcp:\/\/127\.0\.0\.1:\d+$/],
    ['tls', /^tls:\/\/127\.0\.0\.1:\d+$/],
  ])('%s tunnels have a port of their own', async (proto, url) => {
    const tunnel = await agent.tunnel({ name: proto, proto, addr: local.port });
    expect(tunnel).toMatchObject({ proto, config: { addr: String(local.port), inspect: false } });
    expect(tunnel.public_url).toMatch(url);
  });

  test('inspect is on by default for http', async () => {
    expect((await web()).config).toStrictEqual({ addr: local.addr, inspect: true });
  });

  test('further parameters are echoed in config', async () => {
    const options = { metadata: 'team a', host_header: 'rewrite', subdomain: 'shop', verify_upstream_tls: false };
    const tunnel = await web(options);
    expect(tunnel.config).toStrictEqual({ addr: local.addr, inspect: true, ...options });
    expect(tunnel.public_url).toMatch(/^http:\/\/shop\.localhost:/);
  });

  test('an unnamed tunnel has an empty name and a resource all the same', async () => {
    const one = await agent.tunnel({ proto: 'http', addr: local.addr });
    const two = await agent.tunnel({ proto: 'http', addr: local.addr });
    expect([one.name, two.name]).toEqual(['', '']);
    expect(one.uri).toMatch(/^\/api\/tunnels\/tn_\w{27}$/);
    expect((await agent.call('GET', one.uri)).body).toEqual(one);
    await agent.visit(one.public_url);
    expect(await agent.captures(`?tunnel_name=${one.uri.split('/').pop()}`)).toHaveLength(1);
    expect(await agent.captures(`?tunnel_name=${two.uri.split('/').pop()}`)).toHaveLength(0);
    expect((await agent.call('DELETE', one.uri)).status).toBe(204);
    expect((await agent.call('GET', one.uri)).status).toBe(404);
  });

  test.each(['команда', 'a/b', 'a b?c=d#e', '100%', 'UPPER', 'ünïcode/%2F'])(
    'the name %j is found by its uri',
    async (name) => {
      const tunnel = await agent.tunnel({ name, proto: 'http', addr: local.addr });
      expect(tunnel).toMatchObject({ name, uri: `/api/tunnels/${encodeURIComponent(name)}` });
      expect((await agent.call('GET', tunnel.uri)).body).toEqual(tunnel);
      expect((await agent.visit(tunnel.public_url)).status).toBe(200);
      expect((await agent.call('DELETE', tunnel.uri)).status).toBe(204);
    },
  );

  test('names that differ in case only have hosts of their own', async () => {
    const tunnels = [await web(), await web({ name: 'WEB' })];
    expect(new Set(tunnels.map((tunnel) => tunnel.public_url)).size).toBe(2);
  });

  test.each([
    ['no field', {}, 'proto'],
    ['no proto', { addr: '80' }, 'proto'],
    ['an unknown proto', { proto: 'ftp', addr: '80' }, 'must be one of http, tcp, tls'],
    ['no addr', { proto: 'http' }, 'missing field "addr"'],
    ['an addr that is none', { proto: 'http', addr: 'nowhere' }, 'invalid field "addr"'],
    ['an addr with a path', { proto: 'http', addr: 'http://localhost:80/x' }, 'invalid field "addr"'],
    ['a port out of range', { proto: 'tcp', addr: 'localhost:70000' }, 'invalid field "addr"'],
    ['port 0 in a URL', { proto: 'http', addr: 'https://localhost:0' }, 'invalid field "addr"'],
    ['a URL for tcp', { proto: 'tcp', addr: 'http://localhost:80' }, 'invalid field "addr"'],
    ['a name of a wrong type', { proto: 'tcp', addr: '80', name: 5 }, 'invalid field "name"'],
    ['a dot segment as name', { proto: 'tcp', addr: '80', name: '..' }, 'invalid field "name"'],
    ['a line break in the name', { proto: 'tcp', addr: '80', name: 'a\nb' }, 'invalid field "name"'],
    [
      'a port to listen on that is none',
      { proto: 'tcp', addr: '80', remote_port: 70_000 },
      'invalid field "remote_port": must be a whole number from 0 to 65535',
    ],
    ['inspect as text', { proto: 'http', addr: '80', inspect: 'yes' }, 'invalid field "inspect"'],
    ['an unknown field', { proto: 'http', addr: '80', adr: '81' }, 'unknown field "adr"'],
    ['a field of another proto', { proto: 'tcp', addr: '80', host_header: 'x' }, 'unknown field "host_header"'],
  ])('%s is 400', async (_, body, err) => {
    expect(await agent.call('POST', '/api/tunnels', body)).toMatchObject(error(110, 400, err));
  });

  test('a name that is in use is 400, also of two that start at once', async () => {
    await web();
    expect(await agent.call('POST', '/api/tunnels', { name: 'web', proto: 'tcp', addr: '80' })).toMatchObject(
      error(111, 400, '"web"'),
    );
    const twins = [1, 2].map(() => agent.call('POST', '/api/tunnels', { name: 'twin', proto: 'tcp', addr: '80' }));
    expect((await Promise.all(twins)).map(({ status }) => status).sort()).toEqual([201, 400]);
  });

  test('a tunnel that cannot start is 502, and its name stays free', async () => {
    const definition = { name: 'db', proto: 'tcp', addr: '80', remote_port: local.port };
    expect(await agent.call('POST', '/api/tunnels', definition)).toMatchObject(error(113, 502, 'in use'));
    expect((await agent.call('POST', '/api/tunnels', { ...definition, remote_port: 0 })).status).toBe(201);
  });
});

describe('GET /api/tunnels and /api/tunnels/:name', () => {
  test('list the running tunnels in the order of their start', async () => {
    expect((await agent.call('GET', '/api/tunnels')).body).toStrictEqual({ tunnels: [], uri: '/api/tunnels' });
    const tunnels = [await web({ name: 'b' }), await web({ name: 'a' })];
    expect((await agent.call('GET', '/api/tunnels')).body).toStrictEqual({ tunnels, uri: '/api/tunnels' });
  });

  test('an unknown name is 404', async () => {
    expect(await agent.call('GET', '/api/tunnels/none')).toMatchObject(error(112, 404, '"none"'));
  });

  test('metrics have the fields of section 2 and count what was done', async () => {
    const { uri, public_url: url } = await web();
    await agent.visit(url);
    const { metrics } = await until('the connection to count', async () => {
      const { body } = await agent.call('GET', uri);
      return body.metrics.conns.gauge === 0 && body.metrics.conns.count === 1 && body;
    });
    const percentiles = Object.fromEntries(['p50', 'p90', 'p95', 'p99'].map((name) => [name, expect.any(Number)]));
    const rates = Object.fromEntries(['rate1', 'rate5', 'rate15'].map((name) => [name, expect.any(Number)]));
    expect(metrics).toStrictEqual({
      conns: { count: 1, gauge: 0, ...rates, ...percentiles },
      http: { count: 1, ...rates, ...percentiles },
    });
    expect(metrics.http.p50).toBeGreaterThan(1_000);
    expect(metrics.http.rate1).toBeGreaterThan(metrics.http.rate15);
  });
});

describe('DELETE /api/tunnels/:name', () => {
  test('stops it: 204 without a body, then 404', async () => {
    const { uri, public_url: url } = await web();
    expect(await agent.call('DELETE', uri)).toMatchObject({ status: 204, body: undefined });
    expect((await agent.visit(url)).status).toBe(404);
    expect(await agent.call('DELETE', uri)).toMatchObject(error(112, 404, '"web"'));
  });
});

describe('GET /api/requests/http', () => {
  test('has the captured request of section 2', async () => {
    const { public_url: url } = await web();
    await agent.visit(`${url}/path?q=1`, { method: 'POST', headers: { 'X-Twice': ['a', 'b'] }, body: 'hello' });
    const { status, body } = await agent.call('GET', '/api/requests/http');
    expect(status).toBe(200);
    expect(body).toStrictEqual({ uri: '/api/requests/http', requests: [expect.anything()] });
    const [capture] = body.requests;
    expect(capture).toStrictEqual({
      uri: `/api/requests/http/${capture.id}`,
      id: expect.stringMatching(/^req_\w{27}$/),
      tunnel_name: 'web',
      remote_addr: '127.0.0.1',
      start: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/),
      duration: expect.any(Number),
      request: {
        method: 'POST',
        proto: 'HTTP/1.1',
        headers: expect.objectContaining({ 'X-Twice': ['a', 'b'], host: [new URL(url).host] }),
        uri: '/path?q=1',
        raw: expect.any(String),
      },
      response: {
        status: '200 OK',
        status_code: 200,
        proto: 'HTTP/1.1',
        headers: expect.objectContaining({ Date: [expect.any(String)] }),
        raw: expect.any(String),
      },
    });
    expect(Number.isInteger(capture.duration) && capture.duration > 1_000).toBe(true);
    const request = readRaw(capture.request.raw);
    expect(request.head).toMatch(/^POST \/path\?q=1 HTTP\/1\.1\r\n/);
    expect(request.body).toContain('hello');
    expect(readRaw(capture.response.raw).head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  test('response is null while the local server has not yet answered', async () => {
    const held: ServerResponse[] = [];
    const slow = await startLocal((_, response) => held.push(response));
    try {
      const { public_url: url } = await web({ name: 'slow', addr: slow.addr });
      const visit = agent.visit(url);
      const [waiting] = await until('the capture', async () => {
        const found = await agent.captures();
        return found.length > 0 && found;
      });
      expect(waiting.response).toBeNull();
      await until('the request to arrive', () => held.length > 0);
      held[0]?.end('late');
      expect((await visit).text).toBe('late');
      expect((await agent.call('GET', waiting.uri)).body.response).toMatchObject({ status_code: 200 });
    } finally {
      await slow.stop();
    }
  });

  test('newest first; limit and tunnel_name', async () => {
    const [one, two] = [await web({ name: 'one' }), await web({ name: 'two' })];
    for (const [url, path] of [
      [one, '/1'],
      [two, '/2'],
      [one, '/3'],
    ] as const)
      await agent.visit(url.public_url + path);
    const uris = async (query: string) => (await agent.captures(query)).map(({ request }) => request.uri);
    expect(await uris('')).toEqual(['/3', '/2', '/1']);
    expect(await uris('?limit=2')).toEqual(['/3', '/2']);
    expect(await uris('?tunnel_name=one')).toEqual(['/3', '/1']);
    expect(await uris('?tunnel_name=one&limit=1')).toEqual(['/3']);
    expect(await uris('?limit=99999999999999999999')).toEqual(await uris(''));
    expect(await uris('?tunnel_name=none')).toEqual([]);
    expect(await uris('?tunnel_name=')).toEqual(['/3', '/2', '/1']);
  });

  test.each(['limit=0', 'limit=-1', 'limit=x', 'limit=1.5', 'limit='])('%s is 400', async (query) => {
    expect(await agent.call('GET', `/api/requests/http?${query}`)).toMatchObject(error(107, 400, '"limit"'));
  });

  test('a long list is sent bit by bit: what is forgotten meanwhile is left out', async () => {
    const { public_url: url } = await web();
    const headers = { 'content-length': '1000000' };
    for (let round = 0; round < 20; round += 1) {
      await agent.visit(url, { method: 'POST', headers, body: Buffer.alloc(1_000_000) });
    }
    const answer = await answerTo(request(`${agent.url}/api/requests/http`).end());
    await once(answer, 'readable');
    await agent.call('DELETE', '/api/requests/http');
    const { requests } = JSON.parse(await text(answer));
    expect(requests.length).toBeGreaterThan(0);
    expect(requests.length).toBeLessThan(20);
  });

  test('nothing is captured where inspect is off', async () => {
    const { public_url: url } = await web({ inspect: false });
    expect((await agent.visit(url)).status).toBe(200);
    expect(await agent.captures()).toEqual([]);
  });
});

describe('GET /api/requests/http/:request_id', () => {
  test('is one of the list; an unknown id is 404', async () => {
    const { public_url: url } = await web();
    await agent.visit(url);
    const [capture] = await agent.captures();
    expect(await agent.call('GET', capture.uri)).toMatchObject({ status: 200, body: capture });
    expect(await agent.call('GET', '/api/requests/http/none')).toMatchObject(error(120, 404, '"none"'));
  });
});

describe('DELETE /api/requests/http', () => {
  test('forgets them all: 204 without a body', async () => {
    const { public_url: url } = await web();
    await agent.visit(url);
    const [capture] = await agent.captures();
    expect(await agent.call('DELETE', '/api/requests/http')).toMatchObject({ status: 204, body: undefined });
    expect(await agent.captures()).toEqual([]);
    expect((await agent.call('GET', capture.uri)).status).toBe(404);
  });
});

describe('POST /api/requests/http', () => {
  const replay = (body: unknown) => agent.call('POST', '/api/requests/http', body);
  const finished = (count: number) =>
    until(`${count} finished captures`, async () => {
      const found = await agent.captures();
      return found.length === count && found.every(({ response }) => response !== null) && found;
    });

  test('sends the stored request again, and captures it (rule 2)', async () => {
    const { public_url: url } = await web();
    const sent = { method: 'PUT', headers: { 'X-Mark': 'kept', 'transfer-encoding': 'chunked' }, body: 'stored body' };
    const first = JSON.parse((await agent.visit(`${url}/again?x`, sent)).text);
    const [original] = await agent.captures();
    expect(await replay({ id: original.id })).toMatchObject({ status: 204, body: undefined });
    const [copy] = await finished(2);
    expect(copy).toMatchObject({
      tunnel_name: 'web',
      replay_of: original.id,
      request: { method: 'PUT', uri: '/again?x' },
    });
    const second = await until('the answer', async () => {
      const { body } = await agent.call('GET', copy.uri);
      return JSON.parse(readRaw(body.response.raw).body);
    });
    expect(second).toMatchObject({ method: 'PUT', url: '/again?x', body: first.body });
    expect(second.rawHeaders).toEqual(expect.arrayContaining(['X-Mark', 'kept', 'X-Forwarded-For', '127.0.0.1']));
  });

  test('tunnel_name sends it to the local server of another tunnel', async () => {
    const other = await startLocal((_, response) => response.end('from the other'));
    try {
      const { public_url: url } = await web();
      await web({ name: 'other', addr: other.addr });
      await agent.visit(url);
      const [original] = await agent.captures();
      expect((await replay({ id: original.id, tunnel_name: 'other' })).status).toBe(204);
      const [copy] = await finished(2);
      expect(copy.tunnel_name).toBe('other');
      await until('the answer', async () => {
        const { body } = await agent.call('GET', copy.uri);
        return readRaw(body.response.raw).body.includes('from the other');
      });
    } finally {
      await other.stop();
    }
  });

  test('a replay of a replay is one too', async () => {
    const { public_url: url } = await web();
    await agent.visit(`${url}/a`);
    await replay({ id: (await agent.captures())[0].id });
    const [copy] = await finished(2);
    expect((await replay({ id: copy.id })).status).toBe(204);
    expect((await finished(3))[0]).toMatchObject({ replay_of: copy.id, request: { uri: '/a' } });
  });

  test('a local server that is gone shows in the capture', async () => {
    const gone = await startLocal(echo);
    const { public_url: url } = await web({ name: 'gone', addr: gone.addr });
    await agent.visit(url);
    await gone.stop();
    const [original] = await agent.captures();
    expect((await replay({ id: original.id })).status).toBe(204);
    expect((await finished(2))[0]).toMatchObject({
      response: { status_code: 502 },
      error: 'local server: ECONNREFUSED',
    });
  });

  test('refuses what it cannot find or send', async () => {
    const { public_url: url } = await web();
    await agent.tunnel({ name: 'db', proto: 'tcp', addr: local.port });
    await agent.visit(url);
    const [{ id }] = await agent.captures();
    expect(await replay({ id: 'none' })).toMatchObject(error(120, 404, '"none"'));
    expect(await replay({ id, tunnel_name: 'none' })).toMatchObject(error(112, 404, '"none"'));
    expect(await replay({ id, tunnel_name: 'db' })).toMatchObject(error(121, 400, 'tcp'));
    expect(await replay({})).toMatchObject(error(106, 400, 'missing field "id"'));
    expect(await replay({ id: 7 })).toMatchObject(error(106, 400, 'invalid field "id"'));
    expect(await replay({ id, tunnel: 'web' })).toMatchObject(error(106, 400, 'unknown field "tunnel"'));
    await agent.call('DELETE', '/api/tunnels/web');
    expect(await replay({ id })).toMatchObject(error(112, 404, '"web"'));
  });
});

describe('bodies, paths and hosts', () => {
  const post = async (body: NonNullable<RequestInit['body']>, type?: string) => {
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
    const response = await fetch(`${agent.url}/api/tunnels`, { method: 'POST', body, headers });
    return { status: response.status, body: (await response.json()) as unknown };
  };

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', undefined])(
    'content type %s is 415',
    async (type) => expect(await post(Buffer.from('{}'), type)).toMatchObject(error(104, 415, 'application/json')),
  );

  test('a POST without a body is 415, whatever page it comes from', async () => {
    expect(await agent.call('POST', '/api/requests/http')).toMatchObject(error(104, 415, 'application/json'));
  });

  test.each(['{', '[]', 'null', '"x"', ''])('the body %j is 400', async (body) => {
    expect((await post(body, 'application/json')).status).toBe(400);
  });

  describe.each(bodiless)('a client %s', (_, text) => {
    const send = (method: string, path: string) =>
      rawRequest(agent.url, `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${text}`);

    test('stops a tunnel', async () => {
      await agent.tunnel({ name: 'gone', proto: 'http', addr: local.addr });
      expect(await send('DELETE', '/api/tunnels/gone')).toEqual({ status: 204, type: undefined, body: undefined });
      expect(await send('GET', '/api/tunnels/gone')).toMatchObject({ status: 404 });
    });

    test('forgets the captured requests', async () => {
      const { public_url: url } = await web();
      await agent.visit(url);
      expect(await send('DELETE', '/api/requests/http')).toMatchObject({ status: 204 });
      expect(await agent.captures()).toEqual([]);
    });

    test('lists', async () => expect(await send('GET', '/api/tunnels')).toMatchObject({ status: 200 }));
  });

  test.each([
    ['application/json', '{', 106, 400],
    ['text/plain', 'x', 104, 415],
    ['json', 'x', 104, 415],
  ])('a DELETE with a body of %s is read: %s', async (type, body, number, status) => {
    const response = await fetch(`${agent.url}/api/requests/http`, {
      method: 'DELETE',
      body,
      headers: { 'content-type': type },
    });
    expect(await response.json()).toMatchObject({ error_code: number, status_code: status });
  });

  test('1 MiB is read, a byte more is 413', async () => {
    const ofLength = (bytes: number) => JSON.stringify({ x: 'x'.repeat(bytes - '{"x":""}'.length) });
    expect(await post(ofLength(1_048_576), 'application/json')).toMatchObject(error(110, 400, 'proto'));
    expect(await post(ofLength(1_048_577), 'application/json')).toMatchObject(error(105, 413, '1 MiB'));
  });

  test.each(['/api/nope', '/api/requests', '/api/tunnels/a/b', '/nope'])('%s is 404', async (path) => {
    expect(await agent.call('GET', path)).toMatchObject(error(102, 404, 'nothing'));
    // Whatever the body is.
    expect((await fetch(agent.url + path, { method: 'POST', body: 'x' })).status).toBe(404);
  });

  test('another method is 405 and says which there are; a malformed path is 400', async () => {
    const answer = await agent.call('PUT', '/api/tunnels', {});
    expect(answer).toMatchObject(error(103, 405, 'GET, HEAD, POST'));
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST');
    for (const method of ['OPTIONS', 'PROPFIND']) {
      expect(await agent.call(method, '/api/status')).toMatchObject(error(103, 405, 'GET, HEAD'));
    }
    expect(await agent.call('GET', '/api/tunnels/%zz')).toMatchObject(error(100, 400, 'malformed'));
  });

  test.each([
    ...['/', '/status', '/page/app.js', '/api', '/api/', '/api/tunnels', '/api/tunnels/web', '/api/tunnels/none'],
    ...['/api/requests/http', '/api/requests/http/none', '/inspect/history', '/nope'],
  ])('HEAD of %s is answered as GET, without the body', async (path) => {
    await agent.tunnel({ name: 'web', proto: 'http', addr: '1' });
    const [got, head] = await Promise.all(
      ['GET', 'HEAD'].map(async (method) => {
        const answer = await fetch(agent.url + path, { method });
        const body = await answer.text();
        const names = ['content-type', 'content-length', 'content-security-policy'];
        return { status: answer.status, body, headers: names.map((name) => answer.headers.get(name)) };
      }),
    );
    expect(head).toEqual({ ...got, body: '' });
    expect(got?.body).not.toBe('');
  });

  test('HEAD of the events ends, and leaves its connection in order', async () => {
    const socket = dial(agent.url);
    socket.write('HEAD /inspect/events HTTP/1.1\r\nHost: localhost\r\n\r\n');
    socket.write('HEAD /api/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    const answers = (await text(socket)).split('\r\n\r\n');
    expect(answers).toHaveLength(3);
    expect(answers[0]).toMatch(/^HTTP\/1\.1 200 .*content-type: text\/event-stream/s);
    // That of GET has none (RFC 9110, section 8.6).
    expect(answers[0]).not.toMatch(/content-length/i);
    expect(answers[1]).toMatch(/^HTTP\/1\.1 200 .*content-length: \d+/s);
  });

  test.each([101, 15_000])('a name or id of %i characters is unknown as any other', async (length) => {
    const id = 'x'.repeat(length);
    expect(await agent.call('GET', `/api/tunnels/${id}`)).toMatchObject(error(112, 404, id));
    expect(await agent.call('DELETE', `/api/tunnels/${id}`)).toMatchObject(error(112, 404, id));
    expect(await agent.call('GET', `/api/requests/http/${id}`)).toMatchObject(error(120, 404, id));
  });

  test.each(unreadable)('%s has the error body of the others', async (_, text, status) => {
    const [number, why] = status === 431 ? [108, '16384'] : [100, ''];
    expect(await rawRequest(agent.url, text)).toMatchObject({
      type: 'application/json; charset=utf-8',
      ...error(number, status, why),
    });
  });

  test.each([
    ['localhost:4040', 200],
    ['127.0.0.1', 200],
    ['127.8.9.10:1', 200],
    ['[::1]:4040', 200],
    ['LOCALHOST', 200],
    ['evil.example', 403],
    ['localhost.evil.example', 403],
    ['web.localhost', 403],
    ['127.0.0.1.evil.example', 403],
    ['10.0.0.1', 403],
  ])('Host %j is %i', async (host, status) => {
    const got = await new Promise((resolve, reject) => {
      request(`${agent.url}/api/`, { headers: { host } }, (answer) => resolve(answer.resume().statusCode))
        .on('error', reject)
        .end();
    });
    expect(got).toBe(status);
  });

  test('no answer allows another origin to read it', async () => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'DELETE' };
    for (const method of ['GET', 'OPTIONS']) {
      const answer = await fetch(`${agent.url}/api/tunnels`, { method, headers });
      expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });
});

test('the API of an agent that starts answers when the tunnels of its configuration run', async () => {
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address() as AddressInfo;
  free.close();
  await once(free, 'close');
  const names = Array.from({ length: 100 }, (_, index) => [`t${index}`, { proto: 'tcp', addr: '1' }]);
  const starting = startTestAgent({ web_addr: `127.0.0.1:${port}`, tunnels: Object.fromEntries(names) });
  let first: Response | undefined;
  // Without a pause: between the first port and the last tunnel there is hardly time.
  while (first === undefined) first = await fetch(`http://127.0.0.1:${port}/api/tunnels`).catch(() => undefined);
  const { tunnels } = (await first.json()) as { tunnels: unknown[] };
  await (await starting).close();
  expect(tunnels).toHaveLength(names.length);
});

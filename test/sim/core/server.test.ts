import { expect, test } from '@jest/globals';
import Fastify from 'fastify';
import { ask, askWhole, type Listener } from './server.ts';

const get = { method: 'GET', path: '/things?limit=1', headers: { accept: 'application/json' }, body: undefined };

test('an answer with status, headers and body', async () => {
  const listener: Listener = ({ url, headers }, response) => {
    response.setHeader('X-Url', url ?? '');
    response.writeHead(201, { 'Content-Type': 'text/plain' });
    response.write(Buffer.from('é').subarray(0, 1));
    response.write(Buffer.from('é').subarray(1));
    response.end(` ${headers.host}`);
  };
  expect(await askWhole(listener, 'cloud.sim', get)).toEqual({
    status: 201,
    headers: { 'x-url': '/things?limit=1', 'content-type': 'text/plain' },
    body: 'é cloud.sim',
  });
});

test('a framework reads the body, and answers', async () => {
  const app = Fastify();
  app.post('/echo', async (request, reply) => reply.code(200).send({ got: request.body }));
  await app.ready();
  const headers = { 'content-type': 'application/json' };
  const answer = await askWhole(app.routing, 'a', { method: 'POST', path: '/echo', headers, body: '{"a":"ü"}' });
  expect([answer.status, answer.body]).toEqual([200, '{"got":{"a":"ü"}}']);
  await app.close();
});

test('a stream begins, goes on, and ends for both when the client hangs up', async () => {
  let closed = false;
  let write = (_: string): void => {};
  const listener: Listener = (_, response) => {
    response.on('close', () => {
      closed = true;
    });
    write = (text) => response.write(text);
    response.flushHeaders();
    write('a');
  };
  const stream = await ask(listener, 'a', get);
  const seen: string[] = [];
  const ended = new Promise<void>((resolve) => stream.read((text) => seen.push(text), resolve));
  write('b');
  stream.hangUp();
  await ended;
  write('c');
  expect([seen, closed]).toEqual([['a', 'b'], true]);
});

test('a server that hangs up before it answers', async () => {
  await expect(ask((_, response) => response.destroy(), 'a', get)).rejects.toThrow('hung up');
});

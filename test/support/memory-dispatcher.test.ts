import { describe, expect, test } from '@jest/globals';
import { errors, fetch } from 'undici';
import type { Listener } from '../../src/common/dated.ts';
import { MemoryDispatcher } from './memory-dispatcher.ts';
import { until } from './until.ts';

const origin = 'http://memory.test';
const to = (listener: Listener) => new MemoryDispatcher(new Map([[origin, listener]]));
const get = (dispatcher: MemoryDispatcher, more: object = {}) =>
  dispatcher.request({ origin, path: '/', method: 'GET', ...more });

describe('a request', () => {
  const echo: Listener = async (request, response) => {
    const chunks = await request.toArray();
    const { method, url, headers } = request;
    response.setHeader('x-many', ['a', 'b']);
    response.writeHead(201, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString() }));
  };

  test('arrives as it was sent, and so does its answer', async () => {
    const body = 'ä'.repeat(100_000);
    const headers = { 'X-Name': 'é', accept: 'text/plain' };
    const answer = await to(echo).request({ origin, path: '/a%zz/../b?c=d', method: 'PUT', headers, body });
    expect([answer.statusCode, answer.headers['x-many']]).toEqual([201, ['a', 'b']]);
    expect(await answer.body.json()).toEqual({
      method: 'PUT',
      url: '/a%zz/../b?c=d',
      headers: { host: 'memory.test', 'x-name': 'é', accept: 'text/plain', 'content-length': '200000' },
      body,
    });
  });

  test('by fetch is like any other', async () => {
    const init = { method: 'POST', body: '{"a":1}', headers: { 'content-type': 'application/json' } };
    const answer = await fetch(`${origin}/x?y`, { ...init, dispatcher: to(echo) });
    expect([answer.status, answer.headers.get('x-many')]).toEqual([201, 'a, b']);
    expect(await answer.json()).toMatchObject({ url: '/x?y', body: '{"a":1}' });
  });

  test('to nowhere is refused', async () => {
    const nowhere = { origin: 'http://nowhere.test' };
    await expect(get(to(echo), nowhere)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

describe('an answer', () => {
  test('arrives as it is written', async () => {
    let write = (_: string) => {};
    const { body } = await get(
      to((_, response) => {
        response.writeHead(200).flushHeaders();
        write = (text) => response.write(text);
      }),
    );
    const seen: string[] = [];
    const reading = (async () => {
      for await (const chunk of body) seen.push(String(chunk));
    })().catch((error: Error) => error);
    for (const text of ['one', 'two']) {
      write(text);
      await until('it to arrive', () => seen.at(-1) === text);
    }
    body.destroy();
    await reading;
    expect(seen).toEqual(['one', 'two']);
  });

  test('that the server cuts fails, before and within', async () => {
    const cut: Listener = (_, response) => {
      response.destroy();
      response.writeHead(200).end('too late');
    };
    await expect(get(to(cut))).rejects.toThrow(errors.SocketError);
    const { body } = await get(
      to((_, response) => {
        response.writeHead(200);
        response.write('a');
        setImmediate(() => response.destroy());
      }),
    );
    await expect(body.text()).rejects.toThrow(errors.SocketError);
  });

  test('that does not come in time fails', async () => {
    let isClosed = false;
    const silent: Listener = (_, response) => {
      response.on('close', () => {
        isClosed = true;
      });
    };
    await expect(get(to(silent), { headersTimeout: 1 })).rejects.toThrow(errors.HeadersTimeoutError);
    await until('the server to see it', () => isClosed);
    const begun: Listener = (_, response) => void response.writeHead(200).flushHeaders();
    const { body } = await get(to(begun), { bodyTimeout: 1 });
    await expect(body.text()).rejects.toThrow(errors.BodyTimeoutError);
  });
});

describe('the server sees a client go', () => {
  const when = (begins: boolean) => {
    const state = { isThere: false, isGone: false };
    const listener: Listener = (_, response) => {
      state.isThere = true;
      if (begins) response.writeHead(200).flushHeaders();
      response.on('close', () => {
        state.isGone = true;
      });
    };
    return { state, dispatcher: to(listener) };
  };

  test.each([false, true])('that gives up, when the answer began: %s', async (begins) => {
    const { state, dispatcher } = when(begins);
    const given = new AbortController();
    const asked = get(dispatcher, { signal: given.signal }).then(({ body }) => body.text());
    asked.catch(() => {});
    await until('the request', () => state.isThere);
    given.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
    await until('the end', () => state.isGone);
  });

  test('whose dispatcher is destroyed', async () => {
    const { state, dispatcher } = when(true);
    const { body } = await get(dispatcher);
    await dispatcher.destroy();
    await expect(body.text()).rejects.toThrow(errors.ClientDestroyedError);
    await until('the end', () => state.isGone);
    await expect(get(dispatcher)).rejects.toThrow(errors.ClientClosedError);
  });
});

test('closing waits for what is under way', async () => {
  let end = () => {};
  const dispatcher = to((_, response) => {
    response.writeHead(200).flushHeaders();
    end = () => response.end('late');
  });
  const { body } = await get(dispatcher);
  const text = body.text();
  const closed = dispatcher.close();
  end();
  await closed;
  expect(await text).toBe('late');
});

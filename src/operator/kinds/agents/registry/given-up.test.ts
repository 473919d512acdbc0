import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { until } from '../../../../../test/support/until.ts';
import { systemClock } from '../../../../common/clock.ts';
import type { AgentStatus } from '../../../agent-client/schemas.ts';
import { Turns } from '../../../agent-client/turns.ts';
import { shown } from '../agent-tunnel/tunnel.fixture.ts';
import { AgentConnection } from './agent-connection.ts';

/* A replica that goes on elsewhere, or ends, waits for what is under way: not for the turns of long answers. */

const long = 'x'.repeat(40_000);
let server: Server;
let answered: string[];
let agent: AgentConnection;
let stop: AbortController;
let release: () => void;

beforeEach(async () => {
  answered = [];
  const status: AgentStatus = { status: long, agent_version: '1', session: { legs: [] }, uri: '' };
  server = createServer((request, response) => {
    const tunnel = shown({ name: 'web', proto: 'http', addr: '1', long });
    const bodies: Readonly<Record<string, unknown>> = {
      'GET /api/tunnels': { tunnels: [], uri: '' },
      'GET /api/status': status,
      'POST /api/tunnels': tunnel,
      'DELETE /api/tunnels/web': long,
    };
    response.once('finish', () => answered.push(`${request.method}`));
    response
      .writeHead(request.method === 'POST' ? 201 : 200)
      .end(JSON.stringify(bodies[`${request.method} ${request.url}`]));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { promise, resolve } = Promise.withResolvers<void>();
  release = resolve;
  const turns = new Turns(systemClock).of('ns');
  void turns.take(() => promise);
  stop = new AbortController();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clocks = { clock: systemClock, monotonic: systemClock };
  agent = new AgentConnection({ url, userAgent: 'test', ...clocks, random: () => 1, retryMs: 1, turns });
});
afterEach(async () => {
  release();
  await agent.close();
  server.close();
});

const call = () => ({ priority: 'resync', signal: stop.signal }) as const;

test.each([
  ['a status', () => agent.check(0, call()), ['GET', 'GET']],
  ['a start', () => agent.start({ name: 'web', proto: 'http', addr: '1' }, call()), ['POST']],
  ['what a stop is answered with', () => agent.stop('web', call()), ['DELETE']],
])('whoever waits to read %s gives up', async (_, ask, requests) => {
  const asked = ask();
  await until('the answers', () => answered.length === requests.length);
  stop.abort(new Error('the process ends'));
  await expect(asked).rejects.toThrow('the process ends');
  expect(answered).toEqual(requests);
});

test.each([
  ['a start', 'POST', () => agent.start({ name: 'web', proto: 'http', addr: '1' }, call())],
  ['a stop', 'DELETE', () => agent.stop('web', call())],
])('what was seen before %s whose answer is given up is not relied on any more', async (_, method, ask) => {
  const find = () => agent.find('web', 0, { priority: 'resync' });
  await find();
  await find();
  expect(answered).toEqual(['GET']);
  const asked = ask();
  await until('the answer', () => answered.length === 2);
  stop.abort(new Error('something more urgent came'));
  await expect(asked).rejects.toThrow('something more urgent came');
  await find();
  expect(answered).toEqual(['GET', method, 'GET']);
});

import { expect, test } from '@jest/globals';
import type { Clock } from '../../src/common/clock.ts';
import { createSimAgents, type SimAgent, type SimAgentSpec } from './agents.ts';
import { askWhole } from './core/server.ts';

const origin = 'http://agent.sim:4040';
const web = { name: 'web', proto: 'http', addr: '8080' };

async function start(spec: Partial<SimAgentSpec> = {}) {
  let [now, chance] = [0, 0];
  const clock: Clock = {
    now: () => Date.UTC(2030, 0, 1) + now,
    sleep: () => Promise.reject(new Error('it waits')),
    timeout: () => new AbortController().signal,
  };
  const random = () => {
    chance += 0.001;
    return chance % 1;
  };
  const runtime = { clock, monotonic: { ...clock, now: () => now }, random };
  const { at } = await createSimAgents({ runtime, agents: [{ origin, ...spec }] });
  const pass = (ms: number) => {
    now += ms;
  };
  return { agent: at(origin), pass };
}

async function ask({ listener }: SimAgent, method: string, path: string, body?: unknown, host = 'agent.sim:4040') {
  const headers: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
  const text = body === undefined ? undefined : JSON.stringify(body);
  const answer = await askWhole(listener, host, { method, path, headers, body: text });
  return { ...answer, body: answer.body === '' ? undefined : JSON.parse(answer.body) };
}

test('a tunnel starts and stops at once, as the API of the real agent has it', async () => {
  const { agent } = await start();
  const started = await ask(agent, 'POST', '/api/tunnels', web);
  expect(started).toMatchObject({
    status: 201,
    headers: { date: 'Tue, 01 Jan 2030 00:00:00 GMT' },
    body: { name: 'web', uri: '/api/tunnels/web', proto: 'http', public_url: 'http://web.localhost:4041' },
  });
  expect((await ask(agent, 'GET', '/api/tunnels')).body.tunnels).toEqual([started.body]);
  expect(await ask(agent, 'POST', '/api/tunnels', web)).toMatchObject({ status: 400, body: { error_code: 111 } });
  expect(await ask(agent, 'DELETE', '/api/tunnels/web')).toMatchObject({ status: 204 });
  expect(await ask(agent, 'GET', '/api/tunnels/web')).toMatchObject({ status: 404 });
  expect(agent.tunnels()).toEqual([]);
});

test('what no two tunnels may have is refused, and free again when the tunnel stops', async () => {
  const { agent } = await start();
  const named = { ...web, subdomain: 'shop' };
  const port = { name: 'db', proto: 'tcp', addr: '5432', remote_port: 9000 };
  for (const definition of [named, port]) {
    const again = { ...definition, name: 'other' };
    expect(await ask(agent, 'POST', '/api/tunnels', definition)).toMatchObject({ status: 201 });
    expect((await ask(agent, 'POST', '/api/tunnels', again)).status).toBe(definition === named ? 400 : 502);
    await ask(agent, 'DELETE', `/api/tunnels/${definition.name}`);
    expect(await ask(agent, 'POST', '/api/tunnels', again)).toMatchObject({ status: 201 });
    await ask(agent, 'DELETE', '/api/tunnels/other');
  }
});

test('a planted request can be replayed, and each replay is captured', async () => {
  const { agent, pass } = await start({ tunnels: [web] });
  const id = agent.plant({ tunnel: 'web', method: 'POST', target: '/orders', body: 'one' });
  pass(5_000);
  expect(await ask(agent, 'POST', '/api/requests/http', { id })).toMatchObject({ status: 204 });
  const [replay, planted] = (await ask(agent, 'GET', '/api/requests/http')).body.requests;
  expect(planted).toMatchObject({ id, tunnel_name: 'web', start: '2030-01-01T00:00:00.000+00:00' });
  expect(replay).toMatchObject({
    replay_of: id,
    start: '2030-01-01T00:00:05.000+00:00',
    request: { method: 'POST', uri: '/orders' },
    response: { status_code: 200 },
  });
  expect(Buffer.from(replay.request.raw, 'base64').toString()).toContain('\r\n\r\none');
  await ask(agent, 'DELETE', '/api/tunnels/web');
  expect(await ask(agent, 'POST', '/api/requests/http', { id })).toMatchObject({ status: 404 });
});

test('a restart loses the tunnels that were made through the API, and what was captured', async () => {
  const { agent } = await start({ tunnels: [web] });
  await ask(agent, 'POST', '/api/tunnels', { name: 'made', proto: 'tcp', addr: '5432' });
  agent.plant({ tunnel: 'web' });
  expect(agent.tunnels().map(({ name }) => name)).toEqual(['web', 'made']);
  await agent.restart();
  expect(agent.tunnels().map(({ name }) => name)).toEqual(['web']);
  expect(agent.captures()).toEqual([]);
});

test('the journal has the calls that may change something, with what they were answered', async () => {
  const { agent, pass } = await start();
  await ask(agent, 'GET', '/api/tunnels');
  await ask(agent, 'POST', '/api/tunnels', web);
  pass(1_000);
  await ask(agent, 'POST', '/api/requests/http', { id: 'req_none' });
  await ask(agent, 'DELETE', '/api/tunnels/web');
  const at = Date.UTC(2030, 0, 1);
  expect(agent.journal).toEqual([
    { at, method: 'POST', path: '/api/tunnels', body: web, status: 201 },
    { at: at + 1_000, method: 'POST', path: '/api/requests/http', body: { id: 'req_none' }, status: 404 },
    { at: at + 1_000, method: 'DELETE', path: '/api/tunnels/web', body: undefined, status: 204 },
  ]);
});

test('an agent answers to its own name only', async () => {
  const { agent } = await start();
  expect((await ask(agent, 'GET', '/api/status', undefined, 'other.sim')).status).toBe(403);
  expect(await ask(agent, 'GET', '/api/status')).toMatchObject({ status: 200, body: { status: 'online' } });
});

test('the same chance and the same times make the same agent', async () => {
  const story = async () => {
    const { agent, pass } = await start({ tunnels: [web] });
    await ask(agent, 'POST', '/api/tunnels', { proto: 'http', addr: '80' });
    pass(10);
    agent.plant({ tunnel: 'web' });
    return [agent.tunnels(), agent.captures()];
  };
  expect(await story()).toEqual(await story());
});

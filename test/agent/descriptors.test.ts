import { once } from 'node:events';
import { Agent, type RequestListener, request } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { type AgentProcess, startAgentProcess } from '../support/agent-process.ts';
import { until } from '../support/until.ts';
import { type AgentClient, type Answer, agentClient, type LocalServer, startLocal } from './support.ts';

/* An agent whose process may open 256 files, and more clients than that. */

const openFiles = 256;
/** At least so many visits fit at once, at two connections each; how many more get their turn is up to the machine. */
const atOnce = openFiles / 4;
const clients = 400;

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function start(limit = openFiles): Promise<{ readonly process: AgentProcess; readonly agent: AgentClient }> {
  const process = await startAgentProcess([], {}, { openFiles: limit });
  undo.push(() => process.stop('SIGKILL'));
  return { process, agent: agentClient(process) };
}

async function serve(listener: RequestListener): Promise<LocalServer> {
  const local = await startLocal(listener);
  undo.push(() => local.stop());
  return local;
}

/** How many of the answers there were of each kind. */
async function tally(answers: readonly Promise<string>[]): Promise<Readonly<Record<string, number>>> {
  const all = await Promise.all(
    answers.map((answer) => answer.catch((error: NodeJS.ErrnoException) => `${error.code}`)),
  );
  return Object.fromEntries([...Map.groupBy(all, (one) => one)].map(([kind, those]) => [kind, those.length]));
}

const full = 'as many files are open as its process may have (256, see ulimit -n)';
const refused = `503 Service Unavailable\n\nThe agent can take no further connection: ${full}.\n`;

test('as many as fit are served, at once or in their turn, and the others are told why not', async () => {
  const { process, agent } = await start();
  const local = await serve((incoming, response) => {
    incoming.resume();
    setTimeout(() => response.end('served'), 200);
  });
  const { public_url: url } = await agent.tunnel({ name: 'web', proto: 'http', addr: local.addr });
  for (let round = 0; round < 2; round += 1) {
    const visits = Array.from(
      { length: clients },
      async () => (await agent.visit(url, { method: 'POST', body: 'x' })).text,
    );
    const looked = agent.call('GET', '/api/status');
    const { served = 0, [refused]: told, ...others } = await tally(visits);
    expect(others).toEqual({});
    expect(served).toBeGreaterThan(atOnce);
    expect(served + (told ?? 0)).toBe(clients);
    expect((await looked).status).toBe(200);
  }
  expect(process.logs()).toContain('WARN  connections are refused');
  expect((await agent.captures()).filter(({ response }) => response?.status_code !== 200)).toEqual([]);
});

test('of a limit that leaves next to nothing some are served, none in vain, and all of them one after another', async () => {
  const { agent } = await start(64);
  const local = await serve((incoming, response) => {
    incoming.resume();
    setTimeout(() => response.end('served'), 50);
  });
  const { public_url: url } = await agent.tunnel({ name: 'web', proto: 'http', addr: local.addr });
  const visit = async () => (await agent.visit(url, { method: 'POST', body: 'x' })).text;
  const { served = 0, ...others } = await tally(Array.from({ length: clients }, visit));
  expect(served).toBeGreaterThan(0);
  expect(others).toEqual({ [refused.replace('256', '64')]: clients - served });
  for (let at = 0; at < 20; at += 1) expect(await visit()).toBe('served');
  expect((await agent.captures()).filter(({ response }) => response?.status_code !== 200)).toEqual([]);
});

test('clients that keep idle connections leave room for others', async () => {
  const { agent } = await start();
  const local = await serve((_, response) => response.end('served'));
  const { public_url: url } = await agent.tunnel({ name: 'web', proto: 'http', addr: local.addr });
  const held: Agent[] = [];
  undo.push(() => held.forEach((each) => void each.destroy()));
  for (let at = 0; at < clients; at += 1) {
    const keepAlive = new Agent({ keepAlive: true });
    held.push(keepAlive);
    const outgoing = agent.through(url, { agent: keepAlive }).end();
    const status = await new Promise((resolve, reject) => {
      outgoing
        .on('error', reject)
        .on('response', (answer) => answer.resume().on('end', () => resolve(answer.statusCode)));
    });
    expect(status).toBe(200);
  }
});

test('clients that connect and say nothing leave room for others', async () => {
  const { agent, process } = await start(64);
  const local = await serve((_, response) => response.end('served'));
  const { public_url: url } = await agent.tunnel({ name: 'web', proto: 'http', addr: local.addr });
  const silent = Array.from({ length: 20 }, () => connect(Number(new URL(process.edgeURL).port), '127.0.0.1'));
  undo.push(() => silent.forEach((each) => void each.destroy()));
  await Promise.all(
    silent.map((each) =>
      once(
        each.on('error', () => {}),
        'connect',
      ),
    ),
  );
  const before = performance.now();
  await until('an answer', async () => (await agent.visit(url).catch(() => undefined))?.status === 200);
  expect(performance.now() - before).toBeLessThan(20_000);
});

test('tcp: what does not fit is closed at once, and what fits is carried', async () => {
  const { agent } = await start();
  const echo = createTcpServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(0, '127.0.0.1');
  undo.push(() => echo.close());
  await until('the echo to listen', () => echo.listening);
  const { public_url: url } = await agent.tunnel({
    name: 'db',
    proto: 'tcp',
    addr: (echo.address() as AddressInfo).port,
  });
  const sockets: Socket[] = [];
  undo.push(() => sockets.forEach((socket) => void socket.destroy()));
  const carried = Array.from({ length: clients }, async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    sockets.push(socket);
    return new Promise<string>((resolve) => {
      socket.on('error', () => resolve('closed')).on('close', () => resolve('closed'));
      socket.on('data', (chunk) => resolve(String(chunk))).write('x');
    });
  });
  const { x = 0, closed = 0 } = await tally(carried);
  expect(x).toBeGreaterThan(atOnce);
  expect(x + closed).toBe(clients);
  expect((await agent.call('GET', '/api/status')).status).toBe(200);
});

test('tcp: a port that would take what the agent keeps is refused, and all goes on', async () => {
  const { agent } = await start(64);
  const local = await serve((_, response) => response.end('served'));
  const { public_url: url } = await agent.tunnel({ name: 'web', proto: 'http', addr: local.addr });
  const startOne = () => agent.call('POST', '/api/tunnels', { proto: 'tcp', addr: local.addr });
  const started: Answer[] = [];
  do started.push(await startOne());
  while (started.at(-1)?.status === 201);
  const err = `no port can be had: ${full.replace('256', '64')}`;
  expect(started.at(-1)).toMatchObject({ status: 502, body: { error_code: 113, details: { err } } });
  expect(started.length).toBeGreaterThan(1);
  const looks = await Promise.all(Array.from({ length: 8 }, () => agent.call('GET', '/api/status')));
  expect(looks.map(({ status }) => status)).toEqual(looks.map(() => 200));
  expect((await agent.visit(url)).text).toBe('served');
  await agent.call('DELETE', started[0]?.body.uri);
  expect((await startOne()).status).toBe(201);
});

test('the API refuses in its own words what does not fit', async () => {
  const { process } = await start();
  const { port } = new URL(process.url);
  // Held open, as by pages that watch.
  const statuses = Array.from({ length: clients }, () => {
    const outgoing = request({ host: '127.0.0.1', port, path: '/inspect/events', agent: false }).end();
    undo.push(() => outgoing.destroy());
    return new Promise<string>((resolve, reject) => {
      outgoing.on('error', reject).on('response', (answer) => {
        let text = '';
        answer.on('error', () => {}).on('data', (chunk) => (text += chunk));
        if (answer.statusCode === 200) resolve('served');
        answer.on('end', () => resolve(`${answer.statusCode} ${JSON.parse(text).error_code} ${JSON.parse(text).msg}`));
      });
    });
  });
  const { served = 0, '503 131 no connection left': told = 0 } = await tally(statuses);
  expect(served).toBeGreaterThan(openFiles / 2);
  expect(served + told).toBe(clients);
});

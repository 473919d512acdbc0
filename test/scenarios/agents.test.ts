import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { conditionOf, type ManagedObject } from '../../src/reconcile/fields.ts';
import { freePorts, LocalAgent, visit } from '../support/local-agent.ts';
import type { OperatorProcess } from '../support/operator-process.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';

/*
 * Agents and the tunnels in them. One operator, as a process of its own, looks every second; every test has an agent
 * process and a namespace of its own.
 */

let world: World;
let operator: OperatorProcess;
let ports: number[];
let app: { readonly port: number; close(): void };
let agent: LocalAgent;
let namespace: string;

beforeAll(async () => {
  [world, ports] = await Promise.all([startWorld(), freePorts(24).then((free) => [...free])]);
  app = await startApp('hello');
  const allowed = ports.map((port) => `127.0.0.1:${port}`).join(',');
  operator = world.startOperator(['--resync-interval', '1s', '--allowed-agent-hosts', allowed]);
});
beforeEach(async () => {
  agent = new LocalAgent(ports.pop() ?? 0);
  [namespace] = await Promise.all([world.namespace(), agent.start()]);
});
afterEach(() => agent.stop());
afterAll(async () => {
  app.close();
  await world.stop();
});

async function startApp(answer: string) {
  const server = createServer((_, response) => response.end(answer));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

const applyAgent = (spec: object = { url: agent.url }, name = 'edge') => world.apply('Agent', namespace, name, spec);
const applyTunnel = (name: string, spec: object = {}) =>
  world.apply('AgentTunnel', namespace, name, {
    agentRef: { name: 'edge' },
    proto: 'http',
    addr: String(app.port),
    ...spec,
  });
const running = async () => (await agent.tunnels()).map(({ name }) => name).sort();
const messageOf = (object: ManagedObject) => conditionOf(object, 'Ready')?.message;
const urlOf = (object: ManagedObject) => String(object.status?.publicURL);
const reasonsOf = async (object: ManagedObject) => (await world.events(object)).map(({ reason }) => reason);

test('an Agent shows how the agent does, and a tunnel runs for as long as its resource exists', async () => {
  const [edge, web] = await Promise.all([applyAgent(), applyTunnel('web', { inspect: false })]);
  const tunnel = await world.reason(web, 'Available');
  expect(await visit(urlOf(tunnel))).toBe('hello');
  expect(tunnel.status).toMatchObject({ uri: '/api/tunnels/web' });
  expect((await agent.tunnels())[0]).toMatchObject({ name: 'web', proto: 'http', config: { inspect: false } });
  expect(await until('the event', async () => (await reasonsOf(tunnel)).length > 0 && reasonsOf(tunnel))).toEqual([
    'Created',
  ]);
  const online = await until('the count of tunnels', async () => {
    const found = await world.get(edge);
    return found?.status?.tunnelCount === 1 && found;
  });
  expect(online.status).toMatchObject({
    url: agent.url,
    agentVersion: expect.any(String),
    status: 'online',
    legs: [{ region: 'us', latency: expect.stringMatching(/s$/) }],
  });
  await world.delete(tunnel);
  await world.gone(tunnel);
  expect(await running()).toEqual([]);
  await world.delete(online);
  await world.gone(online);
});

test('an agent that is killed and started again has its tunnels again', async () => {
  const edge = await applyAgent();
  const web = await world.reason(await applyTunnel('web'), 'Available');
  await agent.stop();
  const [away] = await Promise.all([world.reason(edge, 'Unreachable'), world.reason(web, 'Unreachable')]);
  expect(messageOf(away)).toMatch(/the connection was refused$/);
  expect(away.status).not.toHaveProperty('tunnelCount');
  await agent.start();
  const [again] = await Promise.all([world.reason(web, 'Available'), world.reason(edge, 'Available')]);
  expect(await visit(urlOf(again))).toBe('hello');
  expect(await reasonsOf(web)).toEqual(expect.arrayContaining(['Created', 'Failed', 'DriftCorrected']));
}, 30_000);

test('the metrics of tunnels are served for as long as they run', async () => {
  await applyAgent();
  const web = await world.reason(await applyTunnel('web'), 'Available');
  await visit(urlOf(web));
  const series = (value: number) =>
    new RegExp(`edge_operator_tunnel_http_requests_total\\{agent="${namespace}/edge",tunnel="web"\\} ${value}\n`);
  await until('the request to be counted', async () => series(1).test(await operator.metrics()));
  await world.delete(web);
  await world.gone(web);
  expect(await operator.metrics()).not.toContain(`agent="${namespace}/edge"`);
});

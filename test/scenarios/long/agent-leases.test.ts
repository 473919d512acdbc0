import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { systemRuntime } from '../../../src/common/runtime.ts';
import { type ConfigMap, configMapType } from '../../../src/operator/mirror/config-map.ts';
import { type AgentClient, agentClient, echo, type LocalServer, startLocal } from '../../agent/support.ts';
import { type AgentProcess, startAgentProcess } from '../../support/agent-process.ts';
import { until } from '../../support/until.ts';
import { startWorld, type World } from '../../support/world.ts';

/** So that 30 s at the cloud pass at once. */
let aheadMs = 0;
let world: World;
let local: LocalServer;
let dir: string;
let keyFile: string;
const agents: AgentProcess[] = [];

beforeAll(async () => {
  const clock = { ...systemRuntime.clock, now: () => Date.now() + aheadMs };
  world = await startWorld({ runtime: { ...systemRuntime, clock } });
  local = await startLocal(echo);
  dir = await mkdtemp(join(tmpdir(), 'agent-leases-'));
  keyFile = join(dir, 'key');
});
beforeEach(() => writeFile(keyFile, world.cloud.apiKey));
afterEach(async () => {
  world.cloud.clearFaults();
  const logs = agents.map((agent) => agent.logs()).join('');
  for (const agent of agents.splice(0)) await agent.stop('SIGKILL');
  aheadMs += 30_000;
  expect(logs).not.toContain(world.cloud.apiKey);
});
afterAll(async () => {
  await local.stop();
  await world.stop();
  await rm(dir, { recursive: true });
});

type TestedAgent = AgentProcess & AgentClient;

async function startAgent(args = ['--cloud-url', world.cloud.url, '--api-key-file', keyFile]): Promise<TestedAgent> {
  const agent = await startAgentProcess(args);
  agents.push(agent);
  return { ...agent, ...agentClient(agent) };
}

const startTunnel = (agent: TestedAgent, more: object = {}) =>
  agent.tunnel({ name: 'web', proto: 'http', addr: local.addr, metadata: 'team a', ...more });

const cloudStatus = async (agent: TestedAgent) => (await agent.call('GET', '/api/status')).body.cloud;

const registered = (agent: TestedAgent, count: number) =>
  until(`${count} registered endpoints`, async () => {
    const { registered: shown, error } = await cloudStatus(agent);
    return shown === count && error === undefined;
  });

const hostports = async () =>
  (await world.cloud.call('GET', '/endpoints')).body.endpoints.map(({ hostport }: { hostport: string }) => hostport);

describe('in the operator’s mirror', () => {
  let namespace: string;

  const mirrored = async () => {
    const labelSelector = 'edge-operator.dev/mirror=endpoints';
    return (await world.client.listAll<ConfigMap>(configMapType, { namespace, labelSelector })).items;
  };
  const mirroredAre = (count: number) =>
    until(`${count} ConfigMaps`, async () => {
      const found = await mirrored();
      return found.length === count && found;
    });

  beforeAll(async () => {
    namespace = await world.namespace();
    world.startOperator(['--mirror-interval', '1s', '--mirror-namespace', namespace]);
  });

  test('an endpoint comes with its tunnel, and goes with it at once', async () => {
    const agent = await startAgent();
    const { public_url: url, uri } = await startTunnel(agent);
    const [configMap] = await mirroredAre(1);
    expect(configMap?.metadata.labels).toMatchObject({ 'edge-operator.dev/type': 'ephemeral' });
    expect(JSON.parse(configMap?.data?.['endpoint.json'] ?? '')).toMatchObject({
      public_url: url,
      proto: 'http',
      hostport: new URL(url).host,
      type: 'ephemeral',
      metadata: 'team a',
      tunnel: { id: expect.stringMatching(/^tn_/), uri: expect.stringContaining('/tunnels/tn_') },
    });
    await agent.call('DELETE', uri);
    await mirroredAre(0);
  });

  test('those of an agent that ends in order go at once, of one that is killed 30 s later', async () => {
    const [orderly, killed] = [await startAgent(), await startAgent()];
    await startTunnel(orderly, { name: 'orderly' });
    await startTunnel(killed, { name: 'killed' });
    await mirroredAre(2);
    expect(await orderly.stop()).toBe(0);
    const [left] = await mirroredAre(1);
    expect(left?.data?.['endpoint.json']).toContain('killed.localhost');
    await killed.stop('SIGKILL');
    aheadMs += 10_000;
    expect(await hostports()).toHaveLength(1);
    aheadMs += 20_000;
    expect(await hostports()).toEqual([]);
    await mirroredAre(0);
  });
});

test('those of an agent whose terminal is closed go at once', async () => {
  const agent = await startAgent();
  await startTunnel(agent);
  await registered(agent, 1);
  expect(await agent.stop('SIGHUP')).toBe(0);
  expect(await hostports()).toEqual([]);
});

test('tunnels of agent.yml, of every protocol, are registered from the start', async () => {
  const config = join(dir, 'agent.yml');
  const tunnels = `tunnels: { web: { proto: http, addr: 1 }, db: { proto: tcp, addr: 2 }, tls: { proto: tls, addr: 3 } }`;
  await writeFile(config, `{ region: eu, cloud_url: "${world.cloud.url}", api_key_file: "${keyFile}", ${tunnels} }`);
  const agent = await startAgent(['--config', config]);
  await registered(agent, 3);
  const { endpoints } = (await world.cloud.call('GET', '/endpoints')).body;
  expect(endpoints.map(({ proto, region }: { proto: string; region: string }) => `${proto} ${region}`).sort()).toEqual([
    'http eu',
    'tcp eu',
    'tls eu',
  ]);
});

test('a cloud that fails has the endpoints once it is back', async () => {
  for (const what of ['drop', 'html']) world.cloud.fault(`PUT ** ${what} count=1`);
  const agent = await startAgent();
  const { public_url: url } = await startTunnel(agent);
  await registered(agent, 1);
  expect(await hostports()).toEqual([new URL(url).host]);
});

test('a cloud that does not answer does not disturb the traffic', async () => {
  world.cloud.fault('* ** hang');
  const agent = await startAgent();
  const { public_url: url, uri } = await startTunnel(agent);
  for (let round = 0; round < 50; round += 1) expect((await agent.visit(url)).status).toBe(200);
  expect((await agent.call('DELETE', uri)).status).toBe(204);
});

test('a key that is refused shows, and one that replaces it in the file is used at once', async () => {
  await writeFile(keyFile, 'an-old-key');
  const agent = await startAgent();
  await startTunnel(agent);
  await until('the refusal to show', async () => (await cloudStatus(agent)).error);
  expect(agent.logs()).toContain('the cloud: answered 403: the API key is unknown');
  expect(agent.logs()).not.toContain('an-old-key');
  await writeFile(keyFile, world.cloud.apiKey);
  await registered(agent, 1);
});

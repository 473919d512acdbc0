import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemRuntime } from '../../src/common/runtime.ts';
import { AgentClient } from '../../src/operator/agent-client/client.ts';
import { until } from '../support/until.ts';
import { echo, type LocalServer, readRaw, startLocal, startTestAgent, type TestAgent } from './support.ts';

let agent: TestAgent;
let local: LocalServer;
let client: AgentClient;

beforeAll(async () => {
  local = await startLocal(echo);
  agent = await startTestAgent();
  client = new AgentClient({ ...systemRuntime, url: agent.url, userAgent: 'test' });
});
afterAll(async () => {
  await client.close();
  await agent.close();
  await local.stop();
});

test('the typed client understands the agent in each of the ten operations', async () => {
  expect(await client.root()).toMatchObject({ uri: '/api/' });
  expect(await client.status()).toMatchObject({ status: 'online', agent_version: '1.2.3' });

  const name = 'a/b c';
  const started = await client.startTunnel({ name, proto: 'http', addr: local.addr, metadata: 'm' });
  expect(started).toMatchObject({ name, config: { inspect: true, metadata: 'm' } });
  expect(await client.getTunnel(name)).toMatchObject({ public_url: started.public_url });
  expect((await client.listTunnels()).tunnels.map((tunnel) => tunnel.name)).toEqual([name]);

  await agent.visit(`${started.public_url}/x`, { method: 'POST', body: 'hello' });
  const [captured] = (await client.listRequests({ limit: 1, tunnelName: name })).requests;
  const id = captured?.id ?? '';
  expect(readRaw(captured?.request.raw ?? '').body).toBe('hello');
  await client.replay({ id });
  await until('the replay is captured', async () => (await client.listRequests()).requests.length === 2);
  expect(await client.getRequest(id)).toMatchObject({ request: { method: 'POST', uri: '/x' } });

  await client.clearRequests();
  expect(await client.getRequest(id)).toBeUndefined();
  await expect(client.replay({ id })).rejects.toMatchObject({ reason: 'NotFound', code: 120, definite: true });
  expect(await client.stopTunnel(name)).toBe('stopped');
  expect(await client.stopTunnel(name)).toBe('absent');
  expect(await client.getTunnel(name)).toBeUndefined();
});

test('a tunnel without a name is addressed by its uri', async () => {
  const { name, uri } = await client.startTunnel({ proto: 'http', addr: local.addr });
  const key = decodeURIComponent(uri.split('/').at(-1) ?? '');
  expect([name, key]).toEqual(['', expect.stringMatching(/^tn_/)]);
  expect(await client.stopTunnel(key)).toBe('stopped');
});

test.each([
  [
    { proto: 'http', addr: 'nowhere:x' },
    { reason: 'Rejected', status: 400, code: 110 },
  ],
  [{ proto: 'http', addr: '80', sbdomain: 'x' }, { message: expect.stringContaining('sbdomain') }],
])('what the agent refuses of %j says why', async (definition, expected) => {
  await expect(client.startTunnel(definition)).rejects.toMatchObject({ definite: true, ...expected });
});

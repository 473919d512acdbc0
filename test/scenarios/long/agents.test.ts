import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { KubeObject, ResourceType } from '../../../src/operator/kube/types.ts';
import { annotation } from '../../../src/operator/reconcile/resource/annotations.ts';
import { conditionOf, type ManagedObject } from '../../../src/operator/reconcile/resource/resource.ts';
import { type ProxiedRequest, startGateProxy } from '../../support/gate-proxy.ts';
import { LocalAgent, visit } from '../../support/local-agent.ts';
import type { OperatorProcess } from '../../support/operator-process.ts';
import { claimPorts, type Ports } from '../../support/ports.ts';
import { until } from '../../support/until.ts';
import { namespaceType, nextSecond, startWorld, type World } from '../../support/world.ts';

/*
 * Agents and the tunnels in them. One operator, as a process of its own, looks every second; every test has an agent and
 * a namespace of its own.
 */

const serviceType: ResourceType = { group: '', version: 'v1', plural: 'services', kind: 'Service', namespaced: true };

let world: World;
let operator: OperatorProcess;
let claim: Ports;
let ports: number[];
let app: { readonly port: number; close(): void };
let agent: LocalAgent;
let namespace: string;
let closing: (() => unknown)[] = [];

beforeAll(async () => {
  [world, claim] = await Promise.all([startWorld(), claimPorts(30)]);
  ports = [...claim.ports];
  app = await startApp('hello');
  const allowed = ports.map((port) => `127.0.0.1:${port}`).join(',');
  operator = world.startOperator(['--resync-interval', '1s', '--allowed-agent-hosts', allowed]);
});
beforeEach(async () => {
  agent = new LocalAgent(ports.pop() ?? 0);
  [namespace] = await Promise.all([world.namespace(), agent.start()]);
});
afterEach(async () => {
  await Promise.all([agent.stop(), ...closing.map((close) => close())]);
  closing = [];
});
afterAll(async () => {
  app.close();
  await world.stop();
  await claim.release();
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
const available = async (name: string, spec: object = {}) => world.reason(await applyTunnel(name, spec), 'Available');
const runningIn = async (where: LocalAgent) => (await where.tunnels()).map(({ name }) => name).sort();
const addrs = async () => (await agent.tunnels()).map(({ name, config }) => [name, config.addr]);
const messageOf = (object: ManagedObject) => conditionOf(object, 'Ready')?.message;
const urlOf = (object: ManagedObject) => String(object.status?.publicURL);
const reasonsOf = async (object: ManagedObject) => (await world.events(object)).map(({ reason }) => reason);
const eventOf = async (object: ManagedObject, reason: string) => (await world.eventsOf(object, reason))[0];

test('an Agent shows how the agent does, and a tunnel runs for as long as its resource exists', async () => {
  const [edge, web] = await Promise.all([applyAgent(), applyTunnel('web', { inspect: false })]);
  const tunnel = await world.reason(web, 'Available');
  expect(await visit(urlOf(tunnel))).toBe('hello');
  expect(tunnel.status).toMatchObject({ uri: '/api/tunnels/web' });
  expect((await agent.tunnels())[0]).toMatchObject({ name: 'web', proto: 'http', config: { inspect: false } });
  await eventOf(tunnel, 'Created');
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
  expect(await runningIn(agent)).toEqual([]);
  await world.delete(online);
  await world.gone(online);
});

test('nothing is written while nothing changes, and the metrics are served for as long as a tunnel runs', async () => {
  const [edge, web] = [await applyAgent(), await available('web')];
  await visit(urlOf(web));
  const series = (metric: string, value: number) =>
    new RegExp(`edge_operator_tunnel_${metric}\\{agent="${namespace}/edge",tunnel="web"\\} ${value}\n`);
  await until('the request to be counted', async () => series('http_requests_total', 1).test(await operator.metrics()));
  expect(await operator.metrics()).toMatch(series('connections_total', 1));
  await until('the count of tunnels', async () => (await world.get(edge))?.status?.tunnelCount === 1);
  const versions = async () => [await world.get(edge), await world.get(web)].map((it) => it?.metadata.resourceVersion);
  const before = await versions();
  for (const value of [2, 3]) {
    await visit(urlOf(web));
    await until('the next look', async () => series('http_requests_total', value).test(await operator.metrics()));
  }
  expect(await versions()).toEqual(before);
  await world.delete(web);
  await world.gone(web);
  expect(await operator.metrics()).not.toContain(`agent="${namespace}/edge"`);
});

test('an agent that is killed and started again has its tunnels again', async () => {
  await agent.stop();
  agent = new LocalAgent(Number(new URL(agent.url).port), 'process');
  await agent.start();
  const edge = await applyAgent();
  const web = await available('web');
  await agent.stop();
  const [away] = await Promise.all([world.reason(edge, 'Unreachable'), world.reason(web, 'Unreachable')]);
  expect(messageOf(away)).toMatch(/^(tunnels\.list|status\.get): the connection (was refused|was reset|broke)$/);
  expect(away.status).not.toHaveProperty('tunnelCount');
  await agent.start();
  const [again] = await Promise.all([world.reason(web, 'Available'), world.reason(edge, 'Available')]);
  expect(await visit(urlOf(again))).toBe('hello');
  await eventOf(web, 'DriftCorrected');
});

test('a tunnel that was stopped behind our back is started again', async () => {
  await applyAgent();
  const web = await available('web');
  await agent.stopTunnel('web');
  await until('the tunnel to run again', async () => (await runningIn(agent)).includes('web'));
  await eventOf(web, 'DriftCorrected');
});

describe('a definition', () => {
  test('goes to the agent with its options, and is replaced when it changes', async () => {
    const other = await startApp('other');
    closing.push(() => other.close());
    await applyAgent();
    const options = { subdomain: 'shop', metadata: 'm', name: 'evil', addr: '1', proto: 'tcp', inspect: false };
    const web = await available('web', { options });
    const ignored = ['name', 'proto', 'addr', 'inspect'].map((option) => `spec.options.${option}`).join(', ');
    expect(messageOf(web)).toContain(`without ${ignored}`);
    expect(await agent.tunnels()).toMatchObject([
      {
        name: 'web',
        proto: 'http',
        public_url: expect.stringMatching('^http://shop\\.localhost:'),
        config: { addr: String(app.port), inspect: true, metadata: 'm' },
      },
    ]);
    const moved = await available('web', { addr: String(other.port), options: { ...options, subdomain: 'new' } });
    expect(await visit(urlOf(moved))).toBe('other');
    expect(urlOf(moved)).toMatch(/^http:\/\/new\./);
    expect(await runningIn(agent)).toEqual(['web']);
    expect((await eventOf(web, 'Updated'))?.note).toBe('replaced tunnel web: addr, options');
  });

  test('that the agent refuses is Rejected with its words, is not sent again and again, and can be corrected', async () => {
    const gate = await startGateProxy(agent.url, { port: ports.pop() ?? 0 });
    closing.push(() => gate.close());
    const seen: ProxiedRequest[] = [];
    void gate.hold('before', (request) => seen.push(request) === 0);
    const count = (method: string) => seen.filter((request) => request.method === method).length;
    await applyAgent({ url: gate.url });
    const web = await world.reason(await applyTunnel('web', { options: { colour: 'red' } }), 'Rejected');
    expect(messageOf(web)).toMatch(/400.*unknown field "colour"/);
    expect(web.metadata.annotations?.[annotation.startedTunnel]).toBeUndefined();
    const looks = count('GET');
    await until('two more looks', () => count('GET') >= looks + 4);
    expect(count('POST')).toBe(1);
    await available('web', { options: {} });
  });

  test('is replaced also by a replacement of its resource, which wipes its record', async () => {
    await applyAgent();
    const web = await available('web');
    await world.replace(web, { ...web.spec, addr: '1', tunnelName: 'other' });
    await until('one tunnel, the other', async () => (await runningIn(agent)).join() === 'other');
    await world.reason(web, 'Available');
  });

  test('under another name, or in another agent, is one tunnel still', async () => {
    const other = new LocalAgent(ports.pop() ?? 0);
    await other.start();
    closing.push(() => other.stop());
    await applyAgent();
    await applyAgent({ url: other.url }, 'other');
    await available('web');
    await available('web', { tunnelName: 'shop.example/ü' });
    expect(await runningIn(agent)).toEqual(['shop.example/ü']);
    const moved = await available('web', { agentRef: { name: 'other' } });
    expect([await runningIn(agent), await runningIn(other)]).toEqual([[], ['web']]);
    await applyAgent({ url: agent.url }, 'other');
    await until('the tunnel to follow its Agent', async () => (await runningIn(agent)).includes('web'));
    expect(await runningIn(other)).toEqual([]);
    await world.delete(moved);
    await world.gone(moved);
    expect(await runningIn(agent)).toEqual([]);
  });
});

describe('one tunnel', () => {
  test("of two resources is the older one's, until that goes", async () => {
    await applyAgent();
    const first = await available('a', { tunnelName: 'web' });
    await nextSecond(first);
    const second = await world.reason(await applyTunnel('b', { tunnelName: 'web', addr: '1' }), 'Conflict');
    expect(messageOf(second)).toContain(`AgentTunnel ${namespace}/a`);
    expect(conditionOf(second, 'Stalled')?.status).toBe('True');
    expect(await addrs()).toEqual([['web', String(app.port)]]);
    await world.delete(first);
    await world.reason(second, 'Available');
    expect(await addrs()).toEqual([['web', '1']]);
    await world.delete(second);
    await world.gone(second);
    expect(await addrs()).toEqual([]);
  });

  test('of an agent that namespaces share is the one that made it, whatever the others write', async () => {
    await applyAgent();
    const web = await available('web');
    const other = await world.namespace();
    // The same agent, spelled otherwise.
    await world.apply('Agent', other, 'mine', { url: `${agent.url}/api/` });
    const spec = { agentRef: { name: 'mine' }, proto: 'http', addr: String(app.port) };
    const same = await world.reason(await world.apply('AgentTunnel', other, 'web', spec), 'Conflict');
    expect(messageOf(same)).toMatch(/shared, and its tunnel web is managed by a resource of another namespace/);
    expect(messageOf(same)).not.toContain(namespace);
    const record = JSON.parse((await world.get(web))?.metadata.annotations?.[annotation.startedTunnel] ?? '');
    const forged = JSON.stringify({ ...record, uid: same.metadata.uid });
    await world.annotate(same, { [annotation.startedTunnel]: forged });
    await world.annotate(same, { [annotation.startedTunnel]: forged, [annotation.reconcileAt]: 'now' });
    await world.reason(same, 'Conflict');
    await world.annotate(same, { [annotation.startedTunnel]: forged });
    await world.delete(same);
    await world.gone(same);
    expect(await visit(urlOf(web))).toBe('hello');
    const answer = await fetch(`${agent.url}/api/requests/http?tunnel_name=web`);
    const { requests } = (await answer.json()) as { requests: readonly { id: string }[] };
    const replay = (into: string, name: string) =>
      world.apply('RequestReplay', into, 'again', { agentRef: { name }, requestID: requests[0]?.id });
    const refused = await world.reason(await replay(other, 'mine'), 'Rejected');
    expect(messageOf(refused)).toMatch(/shared with other namespaces/);
    expect(refused.metadata.annotations).toBeUndefined();
    await world.reason(await replay(namespace, 'edge'), 'Available');
    const own = await world.apply('AgentTunnel', other, 'own', spec);
    await world.reason(own, 'Available');
    const again = await world.reason(
      await world.apply('AgentTunnel', other, 'web', { ...spec, addr: '1' }),
      'Conflict',
    );
    await world.delete(web);
    await world.reason(again, 'Available');
    expect((await addrs()).sort()).toEqual([
      ['own', String(app.port)],
      ['web', '1'],
    ]);
  });

  test('keeps its public name over a restart of an agent that namespaces share, whoever asks for it', async () => {
    await applyAgent();
    const other = await world.namespace();
    await world.apply('Agent', other, 'mine', { url: agent.url });
    const front = await available('front', { options: { subdomain: 'shop' } });
    const spec = { agentRef: { name: 'mine' }, proto: 'http', addr: '1' };
    const byName = await world.apply('AgentTunnel', other, 'shop', spec);
    const byOption = await world.apply('AgentTunnel', other, 'thief', { ...spec, options: { subdomain: 'shop' } });
    await world.reason(byName, 'Available');
    await world.reason(byOption, 'Conflict');
    const port = Number(new URL(agent.url).port);
    for (let round = 0; round < 3; round += 1) {
      await agent.stop();
      agent = new LocalAgent(port);
      await agent.start();
      await until('both tunnels to run again', async () => (await runningIn(agent)).length === 2);
      const named = (await agent.tunnels()).find(({ name }) => name === 'front');
      expect(new URL(String(named?.public_url)).hostname).toBe('shop.localhost');
    }
    expect(messageOf(await world.reason(byOption, 'Conflict'))).toMatch(
      /shop is the public address of a tunnel of another/,
    );
    await world.delete(front);
    await world.reason(byOption, 'Available');
  });

  test('with other options than it was started with is replaced', async () => {
    await applyAgent();
    const web = await available('web', { options: { metadata: 'ours' } });
    await agent.stopTunnel('web');
    const definition = { name: 'web', proto: 'http', addr: String(app.port), metadata: 'theirs' };
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'POST', headers, body: JSON.stringify(definition) };
    await until('theirs to be there before ours', async () => {
      const { status } = await fetch(`${agent.url}/api/tunnels`, request);
      if (status !== 201) await agent.stopTunnel('web').catch(() => {});
      return status === 201;
    });
    await until('ours to run again', async () => (await agent.tunnels())[0]?.config.metadata === 'ours');
    await world.reason(web, 'Available');
    await eventOf(web, 'DriftCorrected');
  });

  test('that we did not start is left alone when it differs, and adopted when it does not', async () => {
    await Promise.all([
      agent.startTunnel({ name: 'web', proto: 'http', addr: '1' }),
      agent.startTunnel({ name: 'api', proto: 'http', addr: `localhost:${app.port}` }),
    ]);
    await applyAgent();
    const [web, api] = [await applyTunnel('web'), await available('api')];
    expect(messageOf(await world.reason(web, 'Conflict'))).toContain('with another addr');
    expect((await eventOf(api, 'Adopted'))?.note).toContain('api');
    const [lost] = await Promise.all([applyTunnel('lost'), world.delete(api)]);
    await Promise.all([world.gone(api), world.reason(lost, 'Available')]);
    expect((await addrs()).sort()).toEqual([
      ['lost', String(app.port)],
      ['web', '1'],
    ]);
    await agent.stopTunnel('web');
    await world.reason(web, 'Available');
    await world.delete(web);
    await world.gone(web);
  });

  test('that took the place of ours is never overwritten, and outlives our resource', async () => {
    await applyAgent();
    const web = await available('web');
    operator.signal('SIGSTOP');
    await agent.stopTunnel('web');
    await agent.startTunnel({ name: 'web', proto: 'http', addr: '1' });
    operator.signal('SIGCONT');
    await world.reason(web, 'Conflict');
    await world.delete(web);
    await world.gone(web);
    expect(await addrs()).toEqual([['web', '1']]);
  });
});

test('a manifest that is copied with its annotations has a tunnel of its own', async () => {
  await world.reason(await applyAgent(), 'Available');
  const web = await available('web');
  const copied = { agentRef: { name: 'edge' }, proto: 'http', addr: '1' };
  const copy = await world.apply('AgentTunnel', namespace, 'copy', copied, web.metadata.annotations);
  await world.reason(copy, 'Available');
  expect(await runningIn(agent)).toEqual(['copy', 'web']);
  await world.delete(copy);
  await world.gone(copy);
  expect(await runningIn(agent)).toEqual(['web']);
  const told = (await world.events(web)).map(({ reason, note }) => `${reason}: ${note}`);
  expect(told).toEqual([expect.stringMatching(/^Created: /)]);
});

describe('deletion', () => {
  test('of an Agent waits for its tunnels', async () => {
    const [edge, web] = [await applyAgent(), await available('web')];
    await world.delete(edge);
    expect(messageOf(await world.reason(edge, 'Deleting'))).toMatch(/AgentTunnel web$/);
    await world.reason(web, 'DependencyNotReady');
    expect(await runningIn(agent)).toEqual(['web']);
    await world.delete(web);
    await Promise.all([world.gone(web), world.gone(edge)]);
    expect(await runningIn(agent)).toEqual([]);
  });

  test('of a tunnel waits for an agent that is away', async () => {
    await applyAgent();
    const web = await available('web');
    await agent.stop();
    await world.delete(web);
    await until('the failed delete to show', async () => {
      const found = await world.get(web);
      return found && messageOf(found)?.startsWith('deleting: tunnels.list: the connection was refused');
    });
    await agent.start();
    await world.gone(web);
    expect(await reasonsOf(web)).not.toContain('Orphaned');
  });

  test('of a tunnel whose Agent goes too, and whose agent is not there, completes and says what it left', async () => {
    const [edge, web] = [await applyAgent(), await available('web')];
    await agent.stop();
    await Promise.all([world.delete(web), world.delete(edge)]);
    await Promise.all([world.gone(web), world.gone(edge)]);
    const orphaned = await eventOf(web, 'Orphaned');
    expect(orphaned).toMatchObject({
      type: 'Warning',
      note: expect.stringContaining(`tunnel web of the agent at ${agent.url}`),
    });
  });

  test.each(['alive', 'dead'])('of a namespace with Agent and tunnels in it completes: agent %s', async (state) => {
    const objects = [await applyAgent(), await available('a'), await available('b')];
    if (state === 'dead') await agent.stop();
    await world.client.delete(namespaceType, { name: namespace });
    // A real API server on its own has nothing that empties a namespace.
    if (world.kube.kind === 'real') for (const object of objects) await world.delete(object);
    for (const object of objects) await world.gone(object);
    if (world.kube.kind === 'embedded') {
      const probe = async () => (await world.client.get<KubeObject>(namespaceType, { name: namespace })) === undefined;
      await until('the namespace to be gone', probe);
    }
    if (state === 'alive') expect(await runningIn(agent)).toEqual([]);
  });

  test('by force leaves the tunnel, and says so', async () => {
    await applyAgent();
    const web = await available('web');
    await agent.stop();
    await world.annotate(web, { [annotation.forceOrphan]: 'true' });
    await world.delete(web);
    await world.gone(web);
    await eventOf(web, 'Orphaned');
  });
});

test('a url is used only where its host is allowed; a Service is known by its name', async () => {
  const gate = await startGateProxy(agent.url);
  closing.push(() => gate.close());
  const requests: ProxiedRequest[] = [];
  void gate.hold('before', (request) => requests.push(request) === 0);
  const edge = await world.reason(await applyAgent({ url: gate.url }), 'Rejected');
  expect(messageOf(edge)).toMatch(/^spec\.url: the host 127\.0\.0\.1:\d+ is not in --allowed-agent-hosts/);
  const web = await world.reason(await applyTunnel('web'), 'DependencyNotReady');
  expect(messageOf(web)).toMatch(/^Agent .*\/edge cannot be used: spec\.url/);
  expect(requests).toEqual([]);
  await world.reason(await applyAgent(), 'Available');
  await world.reason(web, 'Available');
  const service = await applyAgent({ serviceRef: { name: 'agent' } }, 'service');
  const away = await world.reason(service, 'DependencyNotReady');
  expect(away.status?.url).toBe(`http://agent.${namespace}.svc:4040`);
  expect(messageOf(away)).toContain(`Service ${namespace}/agent does not exist`);
});

test('no request goes through a Service that leads out of its namespace', async () => {
  const alias = { type: 'ExternalName', externalName: new URL(agent.url).hostname };
  const metadata = { name: 'alias', namespace };
  const object = { apiVersion: 'v1', kind: 'Service', metadata, spec: alias } as KubeObject;
  await world.client.create(serviceType, object);
  const port = Number(new URL(agent.url).port);
  const refused = await world.reason(await applyAgent({ serviceRef: { name: 'alias', port } }, 'alias'), 'Rejected');
  expect(messageOf(refused)).toMatch(/Service .*\/alias is of type ExternalName: only a Service that selects pods/);
  const tunnel = { agentRef: { name: 'alias' }, proto: 'http', addr: '8080' };
  await world.reason(await world.apply('AgentTunnel', namespace, 'through', tunnel), 'Rejected');
  expect(await runningIn(agent)).not.toContain('through');
});

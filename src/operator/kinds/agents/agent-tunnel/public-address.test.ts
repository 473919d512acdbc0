import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ManagedObject } from '../../../reconcile/resource/resource.ts';
import { agentURL, shown, TunnelWorld } from './tunnel.fixture.ts';

let here: TunnelWorld;
beforeEach(() => {
  here = new TunnelWorld();
  here.starts();
});

const holder = (publicURL: string, more: { namespace?: string; status?: object; metadata?: object } = {}) =>
  ({
    apiVersion: 'edge-operator.dev/v1alpha1',
    kind: 'AgentTunnel',
    metadata: { name: 'shop', namespace: more.namespace ?? 'theirs', uid: 'h', generation: 1, ...more.metadata },
    spec: { agentRef: { name: 'dev' }, proto: 'http', addr: '8080' },
    status: { agentURL, tunnelName: 'front', publicURL, ...more.status },
  }) as ManagedObject;
const theirs = 'http://shop.localhost:4041';
const runs = (public_url: string) => ({ ...shown({ name: 'shop', proto: 'http', addr: '1' }), public_url });

describe('what another tunnel had at the agent before that was started anew', () => {
  test.each([
    ['a subdomain', theirs, { options: { subdomain: 'Shop' } }],
    ['a subdomain that is its by default', theirs, { tunnelName: 'shop' }],
    ['a port', 'tcp://localhost:20000', { proto: 'tcp', options: { remote_port: 20_000 } }],
    ['a port that is written as a text', 'tls://localhost:20000', { proto: 'tcp', options: { remote_port: '20000' } }],
  ])('is not taken: %s', async (_, publicURL, spec) => {
    here.peers = [holder(publicURL)];
    here.edit(spec);
    expect(await here.ensure()).toMatchObject({
      reason: 'Conflict',
      message: expect.stringMatching(
        /^the agent is shared, and (shop|port 20000) is the public address of a tunnel of/,
      ),
    });
    expect(here.running).toBeUndefined();
    here.peers = [];
    expect(await here.reconcile()).toBe('Available');
  });

  test('is for the agent to decide in one namespace', async () => {
    here.peers = [holder(theirs, { namespace: 'ns' })];
    here.edit({ options: { subdomain: 'shop' } });
    expect(await here.reconcile()).toBe('Available');
  });

  test('is not taken by a change of a tunnel that runs, which runs on', async () => {
    expect(await here.reconcile()).toBe('Available');
    const before = here.running;
    here.peers = [holder(theirs)];
    here.edit({ options: { subdomain: 'shop' } });
    expect(await here.reconcile()).toBe('Conflict');
    expect(here.running).toBe(before);
  });
});

test.each([
  ['another subdomain is asked for', theirs, {}, { options: { subdomain: 'other' } }],
  ['another port is', 'tcp://localhost:20000', {}, { proto: 'tcp', options: { remote_port: 20_001 } }],
  ['any port is', 'tcp://localhost:20000', {}, { proto: 'tcp', options: { remote_port: 0 } }],
  ['another agent has it', theirs, { status: { agentURL: 'http://other' } }, { options: { subdomain: 'shop' } }],
  ['it goes', theirs, { metadata: { deletionTimestamp: 'x' } }, { options: { subdomain: 'shop' } }],
  ['its status is garbled', theirs, { status: { publicURL: 7 } }, { options: { subdomain: 'shop' } }],
  ['its address is none', 'shop', {}, { options: { subdomain: 'shop' } }],
  ['options are of another form', theirs, {}, { options: { subdomain: { a: 1 }, remote_port: [] } }],
])('a tunnel is started where %s', async (_, publicURL, more, spec) => {
  here.peers = [holder(publicURL, more)];
  here.edit(spec);
  expect(await here.reconcile()).toBe('Available');
});

test('while the other one runs, who asks for its address by default gets another one of the agent', async () => {
  here.peers = [holder(theirs)];
  here.others = [runs(theirs)];
  here.edit({ tunnelName: 'shop' });
  expect(await here.reconcile()).toBe('Available');
});

test('and who asks for it by name does not ask the agent', async () => {
  here.peers = [holder(theirs)];
  here.others = [runs(theirs)];
  here.edit({ options: { subdomain: 'shop' } });
  expect(await here.reconcile()).toBe('Conflict');
});

test('who had it before has it again, also where the agent could not start it at once', async () => {
  here.isRequested = false;
  here.edit({ options: { subdomain: 'web' } });
  const { publicURL } = await here.settle();
  here.running = undefined;
  here.fails('Unreachable');
  expect(await here.settle()).toMatchObject({ publicURL, agentURL });
  expect(here.flow.claims(here.object)).toContain('public agent:80 web');
  // Somebody who is older, and says the same without proof.
  here.peers = [holder(theirs, { metadata: { creationTimestamp: '2000-01-01T00:00:00Z' } })];
  here.starts();
  here.now += 120_000;
  expect(await here.reconcile()).toBe('Available');
});

test.each([
  ['an edit that the agent refuses', { options: { subdomain: 'web', typo: true } }, {}],
  ['an edit of its name that the agent refuses', { tunnelName: 'other' }, {}],
  ['a start in place of what somebody started otherwise', {}, { typo: true }],
])('it is kept through what ends the tunnel and has no other: %s', async (_, spec, drift) => {
  here.isRequested = false;
  here.edit({ options: { subdomain: 'web' } });
  await here.settle();
  here.run(shown({ name: 'web', proto: 'http', addr: '8080', subdomain: 'web', ...drift }));
  here.edit(spec);
  here.fails('Rejected');
  await here.settle();
  expect(here.running).toBeUndefined();
  expect(here.flow.claims(here.object)).toContain('public agent:80 web');
});

test('it is kept where the same agent is only spelled otherwise, and refuses the start there', async () => {
  here.isRequested = false;
  here.edit({ options: { subdomain: 'web' } });
  await here.settle();
  here.object = JSON.parse(JSON.stringify(here.object).replaceAll(agentURL, `${agentURL}:80/api`));
  here.fails('Rejected');
  await here.settle();
  expect(here.running).toBeUndefined();
  expect(here.flow.claims(here.object)).toContain('public agent:80 web');
});

describe('it is kept where another tunnel has the new name', () => {
  beforeEach(async () => {
    here.isRequested = false;
    here.edit({ options: { subdomain: 'web' } });
    await here.settle();
    here.edit({ tunnelName: 'other' });
  });
  const check = async () => {
    expect(await here.look(0)).toMatchObject({ reason: 'Conflict', fields: { publicURL: 'http://web.localhost' } });
    expect(here.flow.claims(here.object)).toEqual(['ns/dev other', 'public agent:80 web']);
    await here.look(0);
    expect(here.flow.claims(here.object)).toEqual(['ns/dev other', 'public agent:80 web']);
  };

  test('that runs in the agent', async () => {
    const foreign = shown({ name: 'other', proto: 'http', addr: '1' });
    here.onLook = () => {
      here.running ??= foreign;
    };
    await check();
  });

  test('by its resource', async () => {
    const status = { tunnelName: 'other' };
    here.peers = [holder(theirs, { namespace: 'ns', status })];
    await check();
  });
});

test('of two of whom both say so the older one has it', async () => {
  here.edit({ options: { subdomain: 'web' } });
  await here.settle();
  here.running = undefined;
  const { publicURL } = here.object.status as { publicURL: string };
  const at = (creationTimestamp: string) => {
    here.peers = [holder(publicURL, { metadata: { creationTimestamp } })];
    return here.reconcile();
  };
  here.object = { ...here.object, metadata: { ...here.object.metadata, creationTimestamp: '2010-01-01T00:00:00Z' } };
  expect(await at('2000-01-01T00:00:00Z')).toBe('Conflict');
  expect(await at('2020-01-01T00:00:00Z')).toBe('Available');
});

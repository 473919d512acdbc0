import { beforeEach, expect, test } from '@jest/globals';
import type { Tunnel } from '../../../agent-client/schemas.ts';
import { agentURL, shown, TunnelWorld } from './tunnel.fixture.ts';

const asked = { host_header: 'rewrite' };
/** What the agent adds. */
const defaults = { verify_upstream_tls: true };

let here: TunnelWorld;
let starts: number;
beforeEach(async () => {
  [here, starts] = [new TunnelWorld(), 0];
  here.isRequested = false;
  here.edit({ options: asked });
  here.onStart = (tunnel) => {
    starts += 1;
    return here.run(having({ ...defaults, ...tunnel.config }));
  };
  await look(0);
});

const having = (options: object): Tunnel => shown({ name: 'web', proto: 'http', addr: '8080', ...options });

const look = (ms = 15_000, world = here) => world.look(ms);

test('a tunnel that runs as it was started is left alone, with what the agent adds', async () => {
  for (let times = 0; times < 10; times += 1) expect(await look()).toMatchObject({ reason: 'Available' });
  expect(starts).toBe(1);
});

test.each([
  ['an option has another value', { ...asked, ...defaults, host_header: 'preserve' }],
  ['one is gone', defaults],
  ['one is there that nobody asked for', { ...asked, ...defaults, metadata: 'x' }],
  ['what the agent adds is otherwise', { ...asked, verify_upstream_tls: false }],
])('one that somebody started otherwise under its name is replaced: %s', async (_, options) => {
  here.run(having(options));
  expect(await look()).toMatchObject({ reason: 'Available' });
  expect(starts).toBe(2);
  expect(here.running?.config).toEqual(having({ ...asked, ...defaults }).config);
  expect(await look()).toMatchObject({ reason: 'Available' });
  expect(starts).toBe(2);
});

test('also by another process', async () => {
  here.restart();
  here.run(having({ host_header: 'preserve' }));
  await look();
  expect(starts).toBe(2);
});

test('one that has just what is asked for is left alone, whoever started it', async () => {
  const other = here.run(having(asked));
  expect(await look()).toMatchObject({ reason: 'Available' });
  expect(here.running).toBe(other);
  here.run(having({ ...asked, ...defaults }));
  await look();
  expect(starts).toBe(2);
});

test('an agent that never shows the same twice is not started anew all the time', async () => {
  for (let at = 0; at < 3_600_000; at += 15_000) {
    here.run(having({ at }));
    await look();
  }
  // At once, and after 1, 2, 4, 8, 16 and 32 minutes, at the first look after that.
  expect(starts).toBe(1 + 6);
  here.run(having({ at: 0 }));
  expect(await look()).toMatchObject({
    reason: 'Creating',
    message: expect.stringMatching(/^tunnel web has other options again/),
  });
});

test('two that ask for other options under one name start them later and later', async () => {
  const there = new TunnelWorld();
  there.isRequested = false;
  there.edit({ options: { host_header: 'preserve' } });
  let theirs = 0;
  there.onStart = (tunnel) => {
    theirs += 1;
    return there.run(tunnel);
  };
  await look(0, there);
  for (let at = 0; at < 4 * 3_600_000; at += 15_000) {
    await look();
    there.running = here.running;
    await look(15_000, there);
    here.running = there.running;
  }
  expect(starts).toBeLessThan(14);
  expect(theirs).toBeLessThan(14);
});

test('what an earlier version started is known by the options that it has when it is met', async () => {
  const { shownOptions: _, ...status } = here.object.status ?? {};
  here.object = { ...here.object, status };
  here.run(having({ host_header: 'preserve' }));
  expect(await look()).toMatchObject({ reason: 'Available' });
  expect(starts).toBe(1);
  here.run(having({ host_header: 'other' }));
  await look();
  expect(starts).toBe(2);
});

test.each([
  ['of another start', { startedAt: '2020-01-01T00:00:00.000Z' }],
  ['of another place', { agentURL: `${agentURL}2` }],
  ['that is no text', { shownOptions: 7 }],
])('a status %s says nothing of the options', async (_, forged) => {
  here.object = { ...here.object, status: { ...here.object.status, ...forged } };
  here.run(having({ host_header: 'preserve' }));
  expect(await look()).toMatchObject({ reason: 'Available' });
  expect(starts).toBe(1);
});

test('a change of the options is one, and no drift', async () => {
  here.edit({ options: { host_header: 'preserve' } });
  expect(await look()).toMatchObject({ reason: 'Available' });
  expect(here.running?.config).toMatchObject({ host_header: 'preserve' });
  for (let times = 0; times < 3; times += 1) await look();
  expect(starts).toBe(2);
});

test('options with very many values are refused: the agent shows them in each list', async () => {
  here.edit({ options: { all: Array.from({ length: 5_000 }, () => 1) } });
  expect(await look()).toMatchObject({ reason: 'Rejected', message: /options: holds more than 4096 values/ });
});

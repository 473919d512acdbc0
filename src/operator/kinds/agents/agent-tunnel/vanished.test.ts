import { beforeEach, expect, test } from '@jest/globals';
import { TunnelWorld } from './tunnel.fixture.ts';

const resyncMs = 15_000;

let here: TunnelWorld;
/** What was sent to the agent. */
let starts: number;
beforeEach(async () => {
  [here, starts] = [new TunnelWorld(), 0];
  here.isRequested = false;
  here.onStart = (asked) => {
    starts += 1;
    return asked;
  };
  await here.settle();
});

const look = (ms = resyncMs) => here.look(ms);

test('a tunnel that never stays is started again at once, soon, and later and later, and is not Ready', async () => {
  expect(await look()).toMatchObject({ reason: 'Available' });
  expect(starts).toBe(2);
  const again = { reason: 'Creating', retry: { kind: 'after', ms: 5_000 } };
  expect(await look(5_000)).toMatchObject({
    ...again,
    message: expect.stringMatching(/^tunnel web vanished again, after 1 others: the agent may say why/),
  });
  expect(starts).toBe(2);
  const anew = { reason: 'Creating', retry: { kind: 'resync' }, fields: { tunnelName: 'web' } };
  expect(await look(5_000)).toMatchObject({ ...anew, message: expect.stringMatching(/looking whether it stays$/) });
  for (let at = 0; at < 3_600_000; at += resyncMs) expect(await look()).toMatchObject({ reason: 'Creating' });
  // After 20, 40 and 80 seconds, and then every two minutes, as soon as somebody looks.
  expect(starts).toBeGreaterThan(25);
  expect(starts).toBeLessThan(3 + 3 + 30);
});

test('what ended with its agent, again and again, is there again soon after that has come to stay', async () => {
  // The agent starts anew every 40 seconds, for half an hour.
  here.starts();
  for (let at = 0; at < 2_400_000; at += resyncMs) {
    if (at % 40_000 < resyncMs) here.running = undefined;
    await look();
  }
  here.running = undefined;
  for (let at = 0; at < 135_000; at += resyncMs) await look();
  expect(here.running).toBeDefined();
  expect(await look()).toMatchObject({ reason: 'Available' });
});

test('an agent that is started anew, and then once more within a minute, has its tunnels again in seconds', async () => {
  here.starts();
  await look();
  here.running = undefined;
  expect(await look()).toMatchObject({
    reason: 'Creating',
    message: expect.stringMatching(/looking whether it stays$/),
  });
  expect(here.running).toBeDefined();
});

test('one that stays is Ready, and one that stood for a minute is started at once the next time', async () => {
  for (const ms of [resyncMs, 60_000]) await look(ms);
  here.starts();
  await look(120_000);
  expect(await look()).toMatchObject({ reason: 'Available' });
  expect(await look(60_000)).toMatchObject({ reason: 'Available' });
  here.running = undefined;
  expect(await look()).toMatchObject({ reason: 'Available' });
  expect(here.running).toBeDefined();
});

test('a person who asks has it started at once', async () => {
  await look();
  here.isRequested = true;
  await look();
  expect(starts).toBe(3);
});

test('what was not answered has not vanished', async () => {
  here.fails('Unreachable');
  for (let n = 0; n < 5; n += 1) expect(await look(1_000)).toMatchObject({ reason: 'Unreachable' });
});

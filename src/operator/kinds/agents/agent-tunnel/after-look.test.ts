import { beforeEach, expect, test } from '@jest/globals';
import { shown, TunnelWorld } from './tunnel.fixture.ts';

/* A look at an agent whose list is long comes after a rest of two minutes at most. */

let here: TunnelWorld;
let starts: number;
beforeEach(() => {
  [here, starts] = [new TunnelWorld(), 0];
  here.onStart = (asked) => {
    starts += 1;
    return here.run(asked);
  };
});

const paused = () => {
  here.isPaused = true;
};

test.each([
  ['was paused', paused, 'DependencyNotReady'],
  [
    'has another address',
    () => {
      here.isElsewhere = true;
    },
    'Updating',
  ],
])('nothing is started in an agent whose Agent %s meanwhile', async (_, meanwhile, reason) => {
  here.onLook = meanwhile;
  expect(await here.outcome()).toBe(reason);
  expect(starts).toBe(0);
});

test.each([
  ['an edit of its definition', { addr: '9090' }],
  ['an edit of its name', { tunnelName: 'other' }],
])('what runs is not stopped for %s where the Agent was paused meanwhile', async (_, edit) => {
  await here.reconcile();
  here.edit(edit);
  here.onLook = paused;
  expect(await here.outcome()).toBe('DependencyNotReady');
  expect(here.running).toEqual(shown({ name: 'web', proto: 'http', addr: '8080' }));
  expect(starts).toBe(1);
});

test('what was stopped before is not shown any more where the Agent has another address by the next look', async () => {
  await here.settle();
  here.edit({ tunnelName: 'other' });
  let looks = 0;
  here.onLook = () => {
    looks += 1;
    here.isElsewhere = looks > 1;
  };
  const { reason, fields } = await here.look(0);
  expect([reason, here.running]).toEqual(['Updating', undefined]);
  expect(fields).toEqual({ agentURL: 'http://agent', publicURL: 'http://web.localhost' });
});

test('nor for a deletion', async () => {
  await here.reconcile();
  here.onLook = paused;
  await expect(here.remove()).rejects.toThrow('the Agent is paused');
  expect(here.running).toBeDefined();
});

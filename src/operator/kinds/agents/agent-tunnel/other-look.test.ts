import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Tunnel } from '../../../agent-client/schemas.ts';
import { shown, TunnelWorld } from './tunnel.fixture.ts';

/* An agent may show another definition than it was asked for; which one only its answer to the start tells. */

let here: TunnelWorld;
let starts: number;
beforeEach(() => {
  [here, starts] = [new TunnelWorld(), 0];
  here.onStart = answers;
});

const otherwise = (tunnel: Tunnel): Tunnel => ({ ...tunnel, proto: 'https' });

function answers(asked: Tunnel): Tunnel {
  starts += 1;
  return here.run(otherwise(asked));
}

/** It is carried out, and not answered. */
async function lose(): Promise<void> {
  here.fails('Unreachable');
  expect(await here.outcome()).toBe('Unreachable');
  here.running = here.late && otherwise(here.late);
}

/** It is answered, and what it showed cannot be put on record. */
async function deny(): Promise<void> {
  here.onStart = (asked) => {
    here.isDenied = true;
    return answers(asked);
  };
  expect(await here.outcome()).toBe('DependencyNotReady');
}

describe('a look that was answered and could not be put on record', () => {
  beforeEach(deny);

  test('is put there by the next look of this process', async () => {
    expect(await here.outcome()).toBe('DependencyNotReady');
    here.isDenied = false;
    await here.settle();
    here.restart();
    expect(await here.reconcile()).toBe('Available');
    expect(starts).toBe(1);
    expect(await here.remove()).toEqual({ kind: 'finished' });
    expect(here.running).toBeUndefined();
  });

  test('is known where its resource is deleted: the tunnel is stopped at once', async () => {
    expect(await here.remove()).toEqual({ kind: 'finished' });
    expect(here.running).toBeUndefined();
  });

  test('and where that asks for another name', async () => {
    here.isDenied = false;
    here.starts();
    here.edit({ tunnelName: 'other' });
    expect(await here.reconcile()).toBe('Available');
    expect(here.events).toEqual(['Deleted: stopped tunnel web', 'Created: started tunnel other']);
  });

  test('says nothing of a tunnel that is otherwise again: that is not stopped', async () => {
    here.isDenied = false;
    here.run(shown({ name: 'web', proto: 'tcp', addr: '8080' }));
    expect(await here.ensure()).toMatchObject({ message: expect.stringContaining('did not start') });
    expect(await here.remove()).toEqual({ kind: 'finished' });
    expect([here.running?.proto, here.events]).toEqual(['tcp', []]);
  });
});

describe.each([
  ['whose answer was lost', lose],
  [
    'whose answer an earlier process had, which put nothing of it on record',
    async () => {
      await deny();
      here.isDenied = false;
      here.restart();
    },
  ],
])('a tunnel that looks otherwise than asked, after a start %s', (_, happens) => {
  const left =
    /^Orphaned: tunnel web of the agent at http:\/\/agent may be left behind: .* cannot be told whether this resource started it$/;

  beforeEach(async () => {
    await happens();
    here.starts();
    here.now += 1;
  });

  /** As long as a late start may come. */
  async function outlast(step: () => Promise<unknown>): Promise<unknown> {
    expect(await step()).toMatchObject({ retry: { kind: 'after' } });
    expect(here.events).toEqual([]);
    here.now += 60_000;
    return step();
  }

  test('may be its own: the status says that, and what to do', async () => {
    const message = expect.stringMatching(
      /^a tunnel web runs .* another proto, and it cannot be told whether .*: stop it, or give spec the definition/,
    );
    expect(await here.ensure()).toMatchObject({ reason: 'Conflict', message });
    expect(here.running?.proto).toBe('https');
  });

  test('is its own where the spec is given what it shows', async () => {
    here.edit({ proto: 'https' });
    expect(await here.settle()).toMatchObject({ tunnelName: 'web' });
    here.now += 60_000;
    expect(await here.remove()).toEqual({ kind: 'finished' });
    expect(here.running).toBeUndefined();
  });

  test('is started anew where a person stopped it', async () => {
    here.running = undefined;
    here.onStart = answers;
    await here.settle();
    here.restart();
    expect(await here.reconcile()).toBe('Available');
  });

  test('is left behind with its resource, and an event says so, once', async () => {
    expect(await outlast(() => here.remove())).toEqual({ kind: 'finished' });
    expect(here.running?.proto).toBe('https');
    expect(here.events).toEqual([expect.stringMatching(left)]);
  });

  test('and where that asks for another name', async () => {
    here.edit({ tunnelName: 'other' });
    await outlast(() => here.ensure());
    expect(here.events).toEqual([expect.stringMatching(left), 'Created: started tunnel other']);
  });

  test('is not told of where a person stops it meanwhile', async () => {
    await here.remove();
    [here.running, here.now] = [undefined, here.now + 60_000];
    expect(await here.remove()).toEqual({ kind: 'finished' });
    expect(here.events).toEqual([]);
  });
});

test("another's that took the place of one whose start was answered is left, and nothing is told of it", async () => {
  await here.settle();
  here.run(shown({ name: 'web', proto: 'tcp', addr: '8080' }));
  const message = expect.stringMatching(/^a tunnel web that this resource did not start runs/);
  expect(await here.ensure()).toMatchObject({ reason: 'Conflict', message });
  expect(await here.remove()).toEqual({ kind: 'finished' });
  expect([here.running?.proto, here.events]).toEqual(['tcp', ['Created: started tunnel web']]);
});

import { beforeEach, expect, test } from '@jest/globals';
import { ManualClock } from '../controller/manual-clock.fixture.ts';
import type { KubeResponse } from './connection.ts';
import { KubeConnectionError } from './errors.ts';
import { History } from './history.ts';

let clock: ManualClock;
let history: History;
beforeEach(() => {
  clock = new ManualClock();
  history = new History(clock);
});

/** Asks and is answered, or not, so long after. */
async function ask(status: number | undefined, afterMs = 0): Promise<void> {
  const answer = async () => {
    await clock.advance(afterMs);
    if (status === undefined) throw new KubeConnectionError('asking', new Error('refused'));
    return { status } as KubeResponse;
  };
  await history.note(answer).catch(() => {});
}

test.each([undefined, 503])(
  'a server that is away for a while (%s) may come back with another history',
  async (how) => {
    await ask(200);
    await ask(how);
    await clock.advance(4_000);
    await ask(how);
    expect(history.era).toBe(0);
    await clock.advance(1_000);
    await ask(how);
    expect(history.era).toBe(1);
    await clock.advance(60_000);
    await ask(200);
    await ask(how);
    expect(history.era).toBe(1);
  },
);

test('so does one that was silent for so long, unless it answered others', async () => {
  await ask(200);
  await ask(undefined, 5_000);
  expect(history.era).toBe(1);
  const silent = Promise.withResolvers<never>();
  const asked = history.note(() => silent.promise).catch(() => {});
  await clock.advance(26_000);
  await ask(409);
  await clock.advance(4_000);
  silent.reject(new KubeConnectionError('asking', new Error('silent')));
  await asked;
  expect(history.era).toBe(1);
});

test('a question that was given up says nothing', async () => {
  const givenUp = history.note(async () => {
    await clock.advance(30_000);
    throw new Error('given up');
  });
  await expect(givenUp).rejects.toThrow('given up');
  expect(history.era).toBe(0);
});

test('what was read in an earlier one is doubted already', () => {
  history.doubt(0);
  history.doubt(0);
  expect(history.era).toBe(1);
});

import { beforeEach, expect, test } from '@jest/globals';
import { annotation } from '../resource/annotations.ts';
import { settleMs, ThingFixture } from './thing.fixture.ts';

/* What vanishes again and again is made again later and later: what was found gone before such a pause may be there after it. */

let fixture: ThingFixture;
let there: readonly string[];
let gets: number;
beforeEach(() => {
  [there, gets] = [[], 0];
  fixture = new ThingFixture();
  fixture.serve({
    get: async (_, id) => {
      gets += 1;
      return there.includes(id) ? { id } : undefined;
    },
  });
  fixture.memory.of('u').recreated = { times: 2, at: fixture.clock.now() };
  const status = {
    id: 'thing_0',
    ownership: { installation: 'one', account: 'default', how: 'Created' as const, id: 'thing_0' },
  };
  const annotations = { [annotation.externalID]: 'thing_0' };
  fixture.object = { ...fixture.object, metadata: { ...fixture.object.metadata, annotations }, status };
});

const reconcile = () => fixture.reconcile({ requested: false, lastDue: () => Number.NEGATIVE_INFINITY });

/** Until it waits for nothing but the pause, and then until that is over. */
async function pause() {
  await reconcile();
  fixture.clock.advance(settleMs);
  await reconcile();
  expect((await reconcile()).message).toMatch(/vanished again, after 2 others/);
  fixture.clock.advance(120_000);
}

test('what is there by the end of a pause is not made again', async () => {
  await pause();
  there = ['thing_0'];
  expect((await reconcile()).message).toBe('thing thing_0 is there after all: looking again');
  expect((await reconcile()).reason).toBe('Available');
  expect(fixture.creates).toBe(0);
});

test('what is not is, after one look more', async () => {
  await pause();
  const before = gets;
  await reconcile();
  expect([fixture.creates, gets - before]).toEqual([1, 1]);
});

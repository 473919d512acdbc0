import { beforeEach, expect, test } from '@jest/globals';
import { ApiError } from '../../../common/http/errors.ts';
import { ThingFixture } from './thing.fixture.ts';

/* What is refused again and again is sent less and less often. */

let thing: ThingFixture;

beforeEach(() => {
  thing = new ThingFixture();
});

test.each(['create', 'update'] as const)(
  'a %s that the key may not do is sent once a minute at first',
  async (what) => {
    let sent = 0;
    const refuse = async () => {
      sent += 1;
      throw new ApiError('403', { reason: 'Unauthorized', definite: true, isForbidden: true });
    };
    if (what !== 'create') await thing.reconcile();
    thing.serve({ [what]: refuse, diff: () => [{ field: 'description' }] });
    const attempt = () => thing.reconcile({ requested: false });
    expect(await attempt()).toMatchObject({ reason: 'Unauthorized', retry: { kind: 'after', ms: 60_000 } });
    thing.clock.advance(59_000);
    expect(await attempt()).toMatchObject({ reason: 'Unauthorized', retry: { kind: 'after', ms: 1_000 } });
    expect(sent).toBe(1);
    thing.clock.advance(1_000);
    expect(await attempt()).toMatchObject({ retry: { kind: 'after', ms: 120_000 } });
    expect(sent).toBe(2);
  },
);

/** How often a delete is sent in an hour in which each reconcile comes when the one before asks for it. */
async function deletesInAnHour(answer: () => 'absent'): Promise<number> {
  await thing.reconcile();
  let deletes = 0;
  const list = async function* () {
    yield { id: 'thing_1' };
  };
  thing.serve({
    list,
    delete: async () => {
      deletes += 1;
      return answer();
    },
  });
  const occasion = { startedAt: 0, requested: false, drift: false, lastDue: () => 0 };
  for (const end = thing.clock.now() + 3_600_000; thing.clock.now() < end; ) {
    const outcome = await thing.remove({ occasion });
    if (outcome.kind !== 'reported') throw new Error('nothing was reported');
    thing.clock.advance(outcome.retry.kind === 'after' ? outcome.retry.ms : 1_000);
  }
  return deletes;
}

const fail = (reason: 'Unauthorized' | 'Conflict', isForbidden: boolean) => () => {
  throw new ApiError('no', { reason, definite: true, isForbidden });
};

test.each([
  ['forbidden', fail('Unauthorized', true)],
  ['answered by 409', fail('Conflict', false)],
  ['answered by 404, while lists show what is to go', () => 'absent' as const],
])('a delete that is %s is sent less and less often', async (_, answer) => {
  expect(await deletesInAnHour(answer)).toBeLessThanOrEqual(13);
});

test('a delete that was refused is sent at once where a person asks', async () => {
  await thing.reconcile();
  let deletes = 0;
  thing.serve({
    delete: async () => {
      deletes += 1;
      return deletes === 1 ? fail('Unauthorized', true)() : 'deleted';
    },
  });
  expect(await thing.remove()).toMatchObject({ message: 'deleting: no', retry: { kind: 'after', ms: 60_000 } });
  expect(await thing.remove()).toEqual({ kind: 'finished' });
});

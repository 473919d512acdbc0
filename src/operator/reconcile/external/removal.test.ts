import { beforeEach, expect, test } from '@jest/globals';
import { ApiError } from '../../../common/http/errors.ts';
import { connection, ThingFixture } from './thing.fixture.ts';

let thing: ThingFixture;

beforeEach(() => {
  thing = new ThingFixture();
});

test('what was missed before is not taken for the answer to a delete', async () => {
  await thing.reconcile();
  const deletes: string[] = [];
  thing.serve({
    get: async () => undefined,
    delete: async (_, id) => {
      deletes.push(id);
      return 'deleted';
    },
  });
  thing.clock.advance(1_000);
  expect(await thing.reconcile()).toMatchObject({ reason: 'Creating' });
  expect(thing.memory.of('u').absent).toMatchObject({ id: 'thing_1' });
  thing.clock.advance(600_000);
  expect(await thing.remove()).toEqual({ kind: 'finished' });
  expect(deletes).toEqual(['thing_1']);
});

test.each([
  ['a list shows it', undefined],
  ['another key is in force', 1_030_000],
  ['another key came while it was under way', 1_000_005],
])('a delete that was answered with a 404 is sent again when %s', async (_, since) => {
  await thing.reconcile();
  const answers = ['absent', 'deleted'] as const;
  let deletes = 0;
  let there = since === undefined;
  thing.serve({
    list: async function* () {
      if (there) yield { id: 'thing_1' };
    },
    delete: async () => {
      thing.clock.advance(10);
      return answers[deletes++] ?? 'deleted';
    },
  });
  const remove = () => {
    const isNewKey = since !== undefined && thing.clock.now() >= since;
    return thing.remove({ connection: { ...connection, ...(isNewKey && { since }) } });
  };
  expect(await remove()).toMatchObject({ reason: 'Deleting' });
  thing.clock.advance(30_000);
  there = true;
  if (since === undefined) expect(await remove()).toMatchObject({ reason: 'Deleting' });
  expect(await remove()).toEqual({ kind: 'finished' });
  expect(deletes).toBe(2);
});

test.each([
  ['deleted', /^Deleted .* deleted$/],
  ['absent', /^Orphaned .* left behind, if it is still there/],
] as const)('what was in doubt for minutes is deleted once more before it is let go: %s', async (last, told) => {
  await thing.reconcile();
  let deletes = 0;
  thing.serve({
    list: async function* (_client, _call, onOdd) {
      onOdd({ id: undefined, createdAt: undefined, problem: 'id: expected string' });
      yield* [];
    },
    delete: async () => (++deletes === 1 ? 'absent' : last),
  });
  expect(await thing.remove()).toMatchObject({ reason: 'Deleting' });
  thing.clock.advance(90_000);
  expect(await thing.remove()).toMatchObject({ reason: 'Unreachable' });
  thing.clock.advance(60_000);
  expect(await thing.remove()).toEqual({ kind: 'finished' });
  expect(deletes).toBe(2);
  expect(thing.told.at(-1)).toMatch(told);
});

test('a 404 after a delete that was not answered is one witness, and that delete was perhaps never carried out', async () => {
  await thing.reconcile();
  const lost = new ApiError('408', { reason: 'Unreachable', definite: false });
  let deletes = 0;
  thing.serve({
    list: async function* () {
      yield { id: 'thing_1' };
    },
    delete: async () => {
      deletes += 1;
      if (deletes === 1) throw lost;
      return deletes === 2 ? 'absent' : 'deleted';
    },
  });
  expect(await thing.remove()).toMatchObject({ reason: 'Unreachable', message: 'deleting: 408' });
  expect(await thing.remove()).toMatchObject({ reason: 'Deleting' });
  thing.clock.advance(30_000);
  expect(await thing.remove()).toMatchObject({ reason: 'Deleting', message: expect.stringContaining('is in a list') });
  expect(await thing.remove()).toEqual({ kind: 'finished' });
  expect(deletes).toBe(3);
});

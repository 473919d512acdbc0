import { beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../common/http/errors.ts';
import { annotation, formatIntent, intentOf } from '../resource/annotations.ts';
import { conditionsFor } from '../status/conditions.ts';
import { settleMs, ThingFixture } from './thing.fixture.ts';

/** Its create was sent, and may have made any of several. */
let thing: ThingFixture;

beforeEach(async () => {
  thing = new ThingFixture();
  thing.nextError = new ApiError('reset', { reason: 'Unreachable', definite: false });
  await thing.reconcile();
});

test('however many it may be, the status has room for what to do', async () => {
  const ids = Array.from({ length: 300 }, (_, at) => `thing_${'x'.repeat(27)}${at}`);
  thing.serve({
    list: async function* () {
      for (const id of ids) yield { id };
    },
  });
  thing.clock.advance(settleMs);
  const [ready] = conditionsFor(await thing.reconcile(), 1, { previous: [], own: [], asked: [], now: new Date() });
  expect(ready?.message).toMatch(/any of thing_x+\d+, .* and 295 more: set the annotation .* to create another$/);
});

describe('of two that it may be, an id that a person named', () => {
  const looksOf = async (named: string) => {
    await thing.annotate(thing.object, { [annotation.externalID]: named });
    thing.serve({
      list: async function* () {
        yield { id: 'thing_mine' };
        yield { id: 'thing_theirs' };
      },
    });
    thing.clock.advance(settleMs);
    const said = await thing.reconcile();
    thing.show(said);
    return said.reason;
  };

  test('is kept, and nothing else is asked', async () => {
    expect(await looksOf('thing_theirs')).toBe('AmbiguousCreate');
    expect(await thing.reconcile()).toMatchObject({ reason: 'Available', fields: { id: 'thing_theirs' } });
  });

  test('is deleted with its resource', async () => {
    expect(await looksOf('thing_theirs')).toBe('AmbiguousCreate');
    const deletes: string[] = [];
    thing.serve({
      list: async function* () {
        yield { id: 'thing_mine' };
        yield { id: 'thing_theirs' };
      },
      delete: async (_, id) => {
        deletes.push(id);
        return 'deleted';
      },
    });
    expect(await thing.remove()).toEqual({ kind: 'finished' });
    expect(deletes).toEqual(['thing_theirs']);
  });

  test('is asked for otherwise of a resource that is to go', async () => {
    thing.serve({
      list: async function* () {
        yield { id: 'thing_mine' };
        yield { id: 'thing_theirs' };
      },
    });
    thing.clock.advance(settleMs);
    expect(await thing.remove()).toMatchObject({
      message: expect.stringMatching(/the one to delete with this resource, or remove .* to leave them all$/),
    });
  });

  test('and is neither of them does not settle it: the resource stays, with the record of what it may have made', async () => {
    expect(await looksOf('thing_unknown')).toBe('AmbiguousCreate');
    expect(await thing.reconcile()).toMatchObject({ reason: 'AmbiguousCreate' });
    expect(await thing.remove()).toMatchObject({ reason: 'AmbiguousCreate' });
    expect(thing.object.metadata.annotations).toHaveProperty([annotation.createIntent]);
  });
});

describe('what may be any of two is looked up again', () => {
  let there: readonly string[];

  beforeEach(async () => {
    there = ['thing_mine', 'thing_theirs'];
    thing.serve({
      list: async function* () {
        for (const id of there) yield { id };
      },
    });
    thing.clock.advance(settleMs);
    const said = await thing.reconcile();
    expect(said.reason).toBe('AmbiguousCreate');
    thing.show(said);
    there = ['thing_mine'];
    thing.clock.advance(600_000);
    expect(await thing.reconcile()).toMatchObject({ reason: 'AmbiguousCreate' });
  });

  const isDue = () => ({ lastDue: () => thing.clock.now() - 1_000 });

  test('when a drift check is due', async () => {
    expect(await thing.reconcile(isDue())).toMatchObject({ reason: 'Available', fields: { id: 'thing_mine' } });
  });

  test('when a person asks for it', async () => {
    await thing.annotate(thing.object, { [annotation.reconcileAt]: 'now' });
    expect(await thing.reconcile()).toMatchObject({ reason: 'Available', fields: { id: 'thing_mine' } });
  });

  test('and, once none of them is there, in two lists before another is created', async () => {
    there = [];
    thing.nextError = undefined;
    expect(await thing.reconcile(isDue())).toMatchObject({ reason: 'Creating' });
    thing.clock.advance(2_000);
    expect(await thing.reconcile()).toMatchObject({ reason: 'Available', fields: { id: 'thing_2' } });
  });
});

describe('what an answer showed, and is gone, it is not', () => {
  beforeEach(async () => {
    const answered = formatIntent({ ...intentOf(thing.object), answered: 'thing_gone' });
    await thing.annotate(thing.object, { [annotation.createIntent]: answered });
    thing.serve({
      get: async (_, id) => (id === 'thing_gone' ? undefined : { id }),
      list: async function* () {
        yield* [];
      },
    });
    thing.clock.advance(settleMs);
  });

  test('another is made', async () => {
    expect(await thing.reconcile()).toMatchObject({ reason: 'Creating' });
    thing.clock.advance(2_000);
    thing.nextError = undefined;
    expect(await thing.reconcile()).toMatchObject({ reason: 'Available' });
  });

  test('a resource that is to go goes', async () => {
    expect(await thing.remove()).toMatchObject({ reason: 'Deleting' });
    thing.clock.advance(2_000);
    expect(await thing.remove()).toEqual({ kind: 'finished' });
  });
});

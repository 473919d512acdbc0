import { beforeEach, expect, test } from '@jest/globals';
import { ApiError } from '../../../common/http/errors.ts';
import { ThingFixture } from './thing.fixture.ts';

interface Made {
  readonly at: number;
  text: string;
}

let thing: ThingFixture;
let there: Map<string, Made>;
/** Of the creates, in their order. */
let answers: (string | ApiError | undefined)[];
/** As the spec asks. */
let text: string;

beforeEach(() => {
  [thing, there, answers, text] = [new ThingFixture(), new Map(), [], 'x'];
  const shown = (id: string) => ({ id, text: there.get(id)?.text ?? text });
  thing.serve({
    identity: ({ id }) => ({ id, createdAt: new Date(there.get(id)?.at ?? thing.clock.now()).toISOString() }),
    content: () => ({ text }),
    contentOf: ({ text: made = '' }) => ({ text: made }),
    diff: (_, observed) => (observed.text === text ? [] : [{ field: 'text' }]),
    get: async (_, id) => (there.has(id) ? shown(id) : undefined),
    list: async function* () {
      for (const id of there.keys()) yield shown(id);
    },
    create: async () => {
      thing.creates += 1;
      const id = `thing_${thing.creates}`;
      const answer = answers.shift() ?? id;
      if (answer instanceof ApiError) throw answer;
      there.set(id, { at: thing.clock.now(), text });
      return shown(answer);
    },
    update: async (_, id) => {
      const made = there.get(id);
      if (made === undefined) throw new ApiError('404', { reason: 'NotFound', definite: true });
      made.text = text;
      return shown(id);
    },
  });
});

async function check(times: number): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    thing.clock.advance(30_000);
    await thing.reconcile({ requested: false, drift: true, lastDue: () => thing.clock.now() });
  }
}

const orphaned = (id: string) =>
  `Orphaned thing ${id} is held by no resource: an earlier create of this one may have made it`;
const toldOf = () => thing.told.filter((each) => each.startsWith('Orphaned'));

test.each([false, true])(
  'what was made where the answer named what never was is told of; edited since: %s',
  async (isEdited) => {
    answers = ['thing_never'];
    await thing.reconcile();
    if (isEdited) {
      text = 'y';
      thing.object = { ...thing.object, metadata: { ...thing.object.metadata, generation: 2 } };
    }
    await check(20);
    expect(thing.creates).toBe(2);
    expect(toldOf()).toEqual([orphaned('thing_1')]);
  },
);

test('what a person made after a list had shown what vanished is not', async () => {
  await thing.reconcile();
  await check(1);
  there.set('thing_by_hand', { at: thing.clock.now(), text });
  await check(1);
  there.delete('thing_1');
  await check(20);
  expect(thing.creates).toBe(2);
  expect(toldOf()).toEqual([]);
});

test('nor long after an answer that named what never was', async () => {
  answers = ['thing_never'];
  await thing.reconcile();
  there.clear();
  thing.clock.advance(600_000);
  there.set('thing_by_hand', { at: thing.clock.now(), text });
  await check(20);
  expect(thing.creates).toBe(2);
  expect(toldOf()).toEqual([]);
});

test('a later one does not take the place of one that was lost before', async () => {
  answers = [new ApiError('500', { reason: 'Unreachable', definite: false })];
  const lostAt = thing.clock.now();
  await thing.reconcile();
  await check(4);
  expect(there.has('thing_2')).toBe(true);
  there.delete('thing_2');
  answers = ['thing_never'];
  await check(20);
  there.set('thing_1', { at: lostAt, text });
  await check(2);
  expect(toldOf()).toContain(orphaned('thing_1'));
});

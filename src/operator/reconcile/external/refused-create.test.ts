import { beforeEach, expect, test } from '@jest/globals';
import { ApiError } from '../../../common/http/errors.ts';
import { ThingFixture } from './thing.fixture.ts';

/* A create that is refused in other words than the service's, and so may have been carried out. */

let thing: ThingFixture;
let text: string;
const isRefused = { reason: 'Rejected', definite: false } as const;

beforeEach(() => {
  [thing, text] = [new ThingFixture(), 'x'];
  thing.serve({ content: () => ({ text }), contentOf: () => ({ text: 'x' }) });
  thing.nextError = new ApiError('the API answered 422', isRefused);
});

const unasked = { requested: false };

/** Whenever it asks for it, and once a second, as what else happens has it looked at. */
async function spend(ms: number): Promise<readonly string[]> {
  const said: string[] = [];
  for (const end = thing.clock.now() + ms; thing.clock.now() < end; thing.clock.advance(1_000)) {
    const { reason, message } = await thing.reconcile({ ...unasked, startedAt: thing.clock.now() });
    const line = `${reason} ${message}`;
    if (said.at(-1) !== line) said.push(line);
  }
  return said;
}

const rejected = 'Rejected the API answered 422';
const rejectedTwice = [
  'Unreachable the API answered 422',
  'Creating looking for what an unanswered create of the thing may have made',
  rejected,
];

test('is rejected the second time, and then sent six times an hour', async () => {
  expect(await spend(60_000)).toEqual(rejectedTwice);
  expect(await spend(3_600_000)).toEqual([rejected]);
  expect(thing.creates).toBeLessThanOrEqual(2 + 6);
  expect(thing.creates).toBeGreaterThanOrEqual(2 + 5);
});

test('and what it made is found all the same', async () => {
  await spend(15_000);
  expect(thing.creates).toBe(2);
  thing.serve({
    content: () => ({ text }),
    contentOf: () => ({ text: 'x' }),
    list: async function* () {
      yield { id: 'thing_2' };
    },
  });
  expect((await spend(20_000)).at(-1)).toMatch(/^Available /);
  expect(thing.creates).toBe(2);
});

test.each([
  [
    'another content',
    () => {
      text = 'y';
      thing.object = { ...thing.object, metadata: { ...thing.object.metadata, generation: 2 } };
    },
  ],
  ['one that a person asks for', () => thing.reconcile({ requested: true, startedAt: thing.clock.now() })],
])('%s is sent at once', async (_, change) => {
  await spend(60_000);
  expect(thing.creates).toBe(2);
  await change();
  await thing.reconcile(unasked);
  expect(thing.creates).toBe(3);
});

test.each([
  [
    'a failure of another sort',
    () => new ApiError('reset', { reason: 'Unreachable', definite: false }),
    'Unreachable reset',
  ],
  [
    'a refusal of something else',
    () => {
      text = 'y';
      return new ApiError('the API answered 422', isRefused);
    },
    'Unreachable the API answered 422',
  ],
])('%s is none of that', async (_, error, said) => {
  await spend(5_000);
  thing.nextError = error();
  expect((await spend(10_000)).filter((each) => !each.startsWith('Creating'))).toEqual([said]);
});

test('nothing is kept from going', async () => {
  await spend(15_000);
  thing.clock.advance(10_000);
  await thing.remove();
  thing.clock.advance(10_000);
  expect(await thing.remove()).toEqual({ kind: 'finished' });
});

import { beforeEach, expect, test } from '@jest/globals';
import { ApiError } from '../../../common/http/errors.ts';
import { annotating, left, PartsFixture } from './parts.fixture.ts';

/* An answer to a PUT may show what was sent, and no more: a get shows what is there. */

let parts: PartsFixture;
/** In the status. */
let shown: Map<string, unknown>;
let check: () => Promise<{ reason: string; message: string; calls: string[] }>;
/** What is there; undefined: nothing. */
let stored: string | undefined;
/** How the service keeps what it is sent. */
let keep: (sent: string) => string | undefined;
/** What a PUT is answered with in place of what it sent. */
let answered: { text: string } | undefined;
/** What is told of. */
let told: string[];
/** What a get after a PUT is answered with. */
let failure: ApiError | undefined;

beforeEach(() => {
  [parts, shown] = [new PartsFixture(), new Map()];
  [stored, keep, failure, told] = ['text\n', (sent) => sent, undefined, []];
  answered = undefined;
  const { calls } = parts;
  const part = {
    ...parts.part,
    desired: async () => ({ text: 'text\n' }),
    status: (observed: { text: string }) => observed,
    diff: (body: { text: string }, observed: { text: string }) => (body.text === observed.text ? [] : ['text']),
    get: async () => {
      if (calls.includes('put') && failure !== undefined) throw failure;
      calls.push('get');
      return stored === undefined ? undefined : { text: stored };
    },
    replace: async (_client: undefined, _spec: unknown, body: { text: string }) => {
      calls.push('put');
      stored = keep(body.text);
      return answered ?? body;
    },
  };
  const flow = parts.flow([part as never], shown);
  const object = { ...left({ observedGeneration: 2 }) };
  object.status = { ...object.status, thing: { text: 'as it was shown before' } } as never;
  check = async () => {
    parts.now += 3_600_000;
    calls.length = 0;
    const asked = parts.contextFor(object, annotating(object));
    const occasion = { ...asked.occasion, requested: false, drift: true, lastDue: () => parts.now };
    const journal = { ...asked.journal, event: (event: string, note: string) => told.push(`${event} ${note}`) };
    const { reason, message } = (await flow.ensure({ ...asked, occasion, journal: journal as never })) as {
      reason: string;
      message: string;
    };
    return { reason, message, calls: [...calls] };
  };
});

test('what was put back and is otherwise again is not taken where a get after the PUT shows so', async () => {
  keep = (sent) => sent.trim();
  stored = 'text';
  expect(await check()).toMatchObject({ reason: 'Available', calls: ['get', 'put'] });
  const { message, ...second } = await check();
  expect(second).toEqual({ reason: 'Rejected', calls: ['get', 'put', 'get'] });
  expect(message).toMatch('did not take text');
  await check();
  expect(told).toEqual(['DriftCorrected put back text of thing of p']);
});

test('it is put back each time that somebody changes it', async () => {
  for (const more of [[], ['get'], ['get']]) {
    stored = 'changed by hand';
    expect(await check()).toMatchObject({ reason: 'Available', calls: ['get', 'put', ...more] });
  }
});

test('what is not there after a PUT is looked for again', async () => {
  stored = 'changed by hand';
  await check();
  told = [];
  [stored, keep] = ['changed again', () => undefined];
  expect(await check()).toMatchObject({ reason: 'Updating', calls: ['get', 'put', 'get'] });
  expect(shown.get('thing')).toEqual({ applied: false });
  expect(told).toEqual([]);
});

test('it is not said to be as asked while nobody can look', async () => {
  stored = 'changed by hand';
  await check();
  stored = 'changed again';
  failure = new ApiError('no answer', { reason: 'Unreachable', definite: false });
  expect(await check()).toMatchObject({ reason: 'Unreachable', calls: ['get', 'put'] });
  failure = undefined;
  stored = 'changed meanwhile';
  expect(await check()).toMatchObject({ reason: 'Available', calls: ['get', 'put', 'get'] });
});

test('what is never there is not told of as applied, however often it is put', async () => {
  [stored, keep] = [undefined, () => undefined];
  answered = { text: 'of before' };
  for (let times = 0; times < 3; times += 1) {
    expect(await check()).toMatchObject({ reason: 'Updating', calls: ['get', 'put', 'get'] });
  }
  expect(told).toEqual([]);
});

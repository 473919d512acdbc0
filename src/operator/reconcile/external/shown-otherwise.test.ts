import { beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../common/http/errors.ts';
import { annotation } from '../resource/annotations.ts';
import { ThingFixture } from './thing.fixture.ts';

/* Lists, and answers to writes, may show something else than what is there: a get shows that. */

let thing: ThingFixture;
/** What is there. */
let stored: string;
/** `get` and `update`, as they came. */
let calls: string[];

const asked = 'text\n';
const unreachable = new ApiError('no answer', { reason: 'Unreachable', definite: false });

/** @param service how it keeps what it is sent, what lists and answers to updates show, and whether a get is answered */
function serve(service: {
  keep?: (sent: string) => string;
  listed?: () => string;
  updated?: () => string;
  get?: () => void;
}): void {
  const { keep = (sent) => sent, listed = () => stored, updated = () => asked } = service;
  thing.serve({
    diff: (_, { text }) => (text === asked ? [] : [{ field: 'text' }]),
    get: async (_, id) => {
      calls.push('get');
      service.get?.();
      return { id, text: stored };
    },
    list: async function* () {
      yield { id: 'thing_1', text: listed() };
    },
    create: async () => {
      stored = keep(asked);
      return { id: 'thing_1', text: asked };
    },
    update: async (_, id) => {
      calls.push('update');
      const text = updated();
      stored = keep(asked);
      return { id, text };
    },
  });
}

const corrections = () => thing.told.filter((each) => each.startsWith('DriftCorrected'));

/** The next check for drift, an hour later. */
async function check() {
  thing.clock.advance(3_600_000);
  calls = [];
  const { reason, message } = await thing.reconcile({
    requested: false,
    drift: true,
    lastDue: () => thing.clock.now(),
  });
  return { reason, message, calls };
}

beforeEach(() => {
  thing = new ThingFixture();
  calls = [];
});

describe('what a list shows otherwise', () => {
  test('is looked at alone, and left alone where it is as asked', async () => {
    serve({ listed: () => '' });
    await thing.reconcile();
    expect(await check()).toMatchObject({ reason: 'Available', calls: ['get'] });
    expect(thing.told.join()).not.toMatch('DriftCorrected');
  });

  test('is not reported by who only observes where it is as asked', async () => {
    stored = asked;
    serve({ listed: () => '' });
    const annotations = { [annotation.externalID]: 'thing_1' };
    const metadata = { ...thing.object.metadata, annotations };
    thing.object = { ...thing.object, metadata, spec: { managementPolicy: 'Observe' } };
    expect(await check()).toMatchObject({ reason: 'Available', calls: ['get'] });
    stored = 'other';
    expect(await check()).toMatchObject({ reason: 'DriftDetected', calls: ['get'] });
  });

  test('is put back where it is not', async () => {
    serve({});
    await thing.reconcile();
    stored = 'changed by hand';
    expect(await check()).toMatchObject({ reason: 'Available', calls: ['get', 'update'] });
  });

  test('costs nothing more where it is as asked', async () => {
    serve({});
    await thing.reconcile();
    expect(await check()).toMatchObject({ reason: 'Available', calls: [] });
  });
});

test('an answer to an update that shows what was before is believed no sooner than one to a get', async () => {
  serve({ updated: () => stored });
  await thing.reconcile();
  stored = 'changed by hand';
  expect(await check()).toMatchObject({ reason: 'Available', calls: ['get', 'update', 'get'] });
});

describe('what was put back and is otherwise again', () => {
  test('is not taken where a get after the write shows so, whatever its answer showed', async () => {
    serve({ keep: (sent) => sent.trim() });
    await thing.reconcile();
    expect(await check()).toMatchObject({ reason: 'Available', calls: ['get', 'update'] });
    const { message, ...second } = await check();
    expect(second).toEqual({ reason: 'Rejected', calls: ['get', 'update', 'get'] });
    expect(message).toMatch('did not take spec.text');
    const again = await thing.reconcile({ requested: false, drift: true });
    expect(again).toMatchObject({ reason: 'Rejected', retry: { kind: 'after', ms: 600_000 } });
    expect(calls).toHaveLength(3);
    expect(await check()).toMatchObject({ reason: 'Rejected', calls: ['get', 'update', 'get'] });
    expect(corrections()).toHaveLength(1);
  });

  test('is not told of as put back where its answer shows so', async () => {
    serve({ keep: (sent) => sent.trim(), updated: () => stored });
    await thing.reconcile();
    for (let times = 0; times < 3; times += 1) expect(await check()).toMatchObject({ reason: 'Rejected' });
    expect(corrections()).toEqual([]);
  });

  test('is put back each time that somebody changes it', async () => {
    serve({});
    await thing.reconcile();
    for (const more of [[], ['get'], ['get']]) {
      stored = 'changed by hand';
      expect(await check()).toMatchObject({ reason: 'Available', calls: ['get', 'update', ...more] });
    }
    expect(corrections()).toHaveLength(3);
  });

  test('is another matter for another generation of the spec', async () => {
    serve({ keep: (sent) => sent.trim() });
    await thing.reconcile();
    await check();
    thing.object = { ...thing.object, metadata: { ...thing.object.metadata, generation: 2 } };
    expect(await check()).toMatchObject({ reason: 'Available', calls: ['get', 'update'] });
  });

  test('is not said to be as asked while nobody can look', async () => {
    let isAway = false;
    const get = () => {
      if (isAway && calls.includes('update')) throw unreachable;
    };
    serve({ keep: (sent) => sent.trim(), get });
    await thing.reconcile();
    await check();
    isAway = true;
    expect(await check()).toMatchObject({ reason: 'Unreachable', calls: ['get', 'update', 'get'] });
  });
});

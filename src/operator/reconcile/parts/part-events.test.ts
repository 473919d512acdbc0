import { beforeEach, expect, test } from '@jest/globals';
import { contextOf } from '../context.fixture.ts';
import { Memory } from '../resource/memory.ts';
import type { Condition, Ownership } from '../resource/resource.ts';
import { PartReconciler } from './part-reconciler.ts';
import { left, nothingReferred, PartsFixture } from './parts.fixture.ts';

let parts: PartsFixture;

beforeEach(() => {
  parts = new PartsFixture();
});

/** What is told of a part that is not there and is put there. */
async function put(shown: Partial<Condition>, ownership: Omit<Ownership, 'installation'>, applied = true) {
  const object = left({ observedGeneration: 2, ...shown });
  const status = { ...object.status, ownership: { installation: 'one', how: 'Applied' as const, ...ownership } };
  const connection = { key: 'default', client: undefined };
  let now = 0;
  const context = contextOf({ ...object, status }, { writer: {}, connection, memory: new Memory(), now: () => now });
  const told: string[] = [];
  const journal = { ...context.journal, event: (reason: string, note: string) => told.push(`${reason} ${note}`) };
  const part = { ...parts.part, get: async () => undefined };
  const reconciler = new PartReconciler(part as never, { ...context, journal } as never, {
    spec: object.spec as never,
    ...{ parent: 'p', claim: 'c', named: true, applied, createSettleMs: 1 },
    ...{ seen: new Map(), lostDeletes: new Map() },
  });
  await reconciler.act(await reconciler.plan(nothingReferred));
  // What was there is looked for twice.
  now += 3_000;
  if (told.length === 0) await reconciler.act(await reconciler.plan(nothingReferred));
  return told;
}

const again = ['DriftCorrected made thing of p again: it was gone'];
const anew = ['Created applied thing of p'];
const unreachable = { status: 'False', reason: 'Unreachable' } as const;

test.each([
  ['was as asked', {}, { parts: ['thing'] }, again],
  ['was there before an outage', unreachable, { parts: ['thing'] }, again],
  ['was there, and had no answer once', {}, { parts: ['thing'], unanswered: ['thing'] }, again],
  ['may never have been there', unreachable, { parts: ['thing'], unanswered: ['thing'] }, anew],
  ['is not known to have been put there', {}, {}, anew],
])('a part that %s', async (_, shown, ownership, told) => {
  expect(await put(shown, ownership)).toEqual(told);
});

test('a part that is not on record is new', async () => {
  expect(await put({}, { parts: ['thing'] }, false)).toEqual(anew);
});

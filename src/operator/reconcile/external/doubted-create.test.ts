import { beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../common/http/errors.ts';
import type { Connection } from '../connections/connection.ts';
import { Peers } from '../ownership/peers.ts';
import { annotation } from '../resource/annotations.ts';
import type { ManagedObject } from '../resource/resource.ts';
import { connection, settleMs, ThingFixture } from './thing.fixture.ts';

/** Its create was sent, and what that may have made is not found in what may be another account. */
let thing: ThingFixture;

beforeEach(async () => {
  thing = new ThingFixture();
  thing.nextError = new ApiError('reset', { reason: 'Unreachable', definite: false });
  await thing.reconcile();
  thing.nextError = undefined;
});

describe('while most of the account is not found', () => {
  /** The last two looks. */
  const looked = async () => {
    thing.clock.advance(settleMs);
    await thing.reconcile();
    thing.clock.advance(2_000);
    return thing.reconcile();
  };
  const none = { present: 0, missing: 0, vouching: 0 };
  let missing: number;

  beforeEach(() => {
    missing = 2;
    thing.census.add(connection, {}, () => ({ proven: { present: 1, missing, vouching: 0 }, said: none, made: none }));
  });

  test('nothing is created anew: it may be another account', async () => {
    const said = await looked();
    expect(said).toMatchObject({ reason: 'Unreachable', retry: { kind: 'backoff', atLeastMs: 30_000 } });
    expect(said.message).toMatch(/^what an unanswered create .* is not found, but 2 of 3 objects .* vanished at once/);
    expect(thing.creates).toBe(1);
    missing = 0;
    thing.clock.advance(30_000);
    // The lists of that time say nothing.
    expect(await thing.reconcile()).toMatchObject({ reason: 'Creating' });
    thing.clock.advance(2_000);
    expect(await thing.reconcile()).toMatchObject({ reason: 'Available', fields: { id: 'thing_2' } });
  });

  test('but for what others merely say that they have made', async () => {
    missing = 0;
    thing.census.add(connection, {}, () => ({
      proven: { present: 0, missing, vouching: 0 },
      said: { present: 0, missing: 9, vouching: 0 },
      made: none,
    }));
    expect(await looked()).toMatchObject({ reason: 'Available', fields: { id: 'thing_2' } });
  });

  test('the status says so for as long as it lasts', async () => {
    const said = await looked();
    for (let tries = 0; tries < 3; tries += 1) {
      thing.clock.advance(tries === 1 ? 2_000 : 30_000);
      expect(await thing.reconcile()).toEqual(said);
    }
    expect(thing.creates).toBe(1);
  });

  test('unless a person who was told so says that it is gone', async () => {
    thing.show(await looked());
    await thing.annotate(thing.object, { [annotation.reconcileAt]: 'now' });
    thing.clock.advance(1_000);
    await thing.reconcile();
    thing.clock.advance(2_000);
    expect(await thing.reconcile()).toMatchObject({ reason: 'Available', fields: { id: 'thing_2' } });
  });

  test('and what is to go is kept for two minutes, and no longer', async () => {
    await looked();
    thing.clock.advance(600_000);
    expect(await thing.remove()).toMatchObject({ reason: 'Unreachable' });
    thing.clock.advance(120_000);
    expect(await thing.remove()).toMatchObject({ reason: 'Deleting' });
    thing.clock.advance(2_000);
    expect(await thing.remove()).toEqual({ kind: 'finished' });
    expect(thing.told).toEqual([
      expect.stringMatching(/^Orphaned the thing of an unanswered create, if it was made, is left behind/),
    ]);
  });
});

describe('what was sent with another key', () => {
  const [before, inForce] = ['aaaa-11111111', 'aaaa-22222222'];
  const other: ManagedObject = {
    ...{ apiVersion: 'edge-operator.dev/v1alpha1', kind: 'Thing', spec: {} },
    metadata: {
      ...{ name: 'b', namespace: 'ns', uid: 'other' },
      annotations: { [annotation.recordOf]: 'other', [annotation.account]: 'default', [annotation.keyMark]: before },
    },
    status: { ownership: { id: 'thing_other', how: 'Created', account: 'default' } },
  };
  let rekeyed: Connection<undefined>;
  let resources: readonly ManagedObject[];

  beforeEach(async () => {
    await thing.annotate(thing.object, { [annotation.keyMark]: before });
    const since = thing.clock.now() + 1;
    rekeyed = { ...connection, since, keyMark: inForce, hadAnotherKey: (at) => at < since };
    resources = [thing.object, other];
    thing.clock.advance(1);
  });

  async function looked() {
    const look = () => {
      const index = { get: () => other, list: () => resources, claimants: () => [] };
      return thing.reconcile({}, { connection: rekeyed, peers: new Peers({ index, memory: thing.memory }) });
    };
    await look();
    for (const ms of [settleMs, 2_000]) {
      thing.clock.advance(ms);
      await look();
    }
    return look();
  }

  const doubt =
    /^what an unanswered create of the thing .* is not found, but it may have been sent with another API key/;

  test('is not made anew: this one may be of another account', async () => {
    const said = await looked();
    expect(said).toMatchObject({ reason: 'Unreachable', message: expect.stringMatching(doubt) });
    thing.show(said);
    await thing.annotate(thing.object, { [annotation.reconcileAt]: 'now' });
    expect(await looked()).toMatchObject({ reason: 'Available', fields: { id: 'thing_2' } });
  });

  test('nor by the next process, which has it from the record', async () => {
    thing.memory.forget('u');
    expect(await looked()).toMatchObject({ reason: 'Unreachable', message: expect.stringMatching(doubt) });
    expect(thing.creates).toBe(1);
  });

  test('keeps a resource that is to go for two minutes, and is told of as left behind', async () => {
    await looked();
    const remove = () => thing.remove({ connection: rekeyed });
    expect(await remove()).toMatchObject({ reason: 'Unreachable', message: expect.stringMatching(doubt) });
    thing.clock.advance(120_000);
    expect(await remove()).toMatchObject({ reason: 'Deleting' });
    thing.clock.advance(2_000);
    expect(await remove()).toEqual({ kind: 'finished' });
    expect(thing.told).toEqual([
      expect.stringMatching(/^Orphaned the thing of an unanswered create, if it was made, is left behind/),
    ]);
  });

  test('is made anew where what was there with the other one is there', async () => {
    thing.serve(
      {
        list: async function* () {
          yield { id: 'thing_other' };
        },
      },
      [other],
    );
    expect(await looked()).toMatchObject({ reason: 'Available', fields: { id: 'thing_2' } });
  });

  test('is made anew where the one before it is back', async () => {
    rekeyed = { ...rekeyed, keyMark: before, hadAnotherKey: () => false };
    expect(await looked()).toMatchObject({ reason: 'Available', fields: { id: 'thing_2' } });
  });
});

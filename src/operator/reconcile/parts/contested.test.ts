import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../common/http/errors.ts';
import { Peers } from '../ownership/peers.ts';
import { annotation } from '../resource/annotations.ts';
import type { ManagedObject } from '../resource/resource.ts';
import type { Fate } from '../resource/writer.ts';
import { annotating, createSettleMs, deleted, left, PartsFixture } from './parts.fixture.ts';

let scene: PartsFixture;

beforeEach(() => {
  scene = new PartsFixture();
});

describe('what another one has', () => {
  const object = left(undefined, { generation: 1, spec: { thing: {}, other: {} } });
  const wish = { ...object, metadata: { ...object.metadata, annotations: { [annotation.recordOf]: 'u' } } };
  const ownership = { how: 'Applied' as const, parts: ['thing'] };
  const holder: ManagedObject = { ...wish, metadata: { ...wish.metadata, name: 'b', uid: 'v' }, status: { ownership } };

  let holders: ManagedObject[];
  let other: PartsFixture['part'];
  beforeEach(() => {
    holders = [holder];
    other = { ...scene.part, name: 'other', condition: 'OtherReady' };
  });

  const index = {
    get: () => undefined,
    list: () => [],
    claimants: (claim: string) => (claim.endsWith('thing') ? holders : []),
  };
  const ensure = (parts = [scene.part], resource: ManagedObject = wish) => {
    const peers = new Peers({ index, memory: scene.memory, accountOf: () => ({ identity: 'default' }) });
    return scene.flow(parts).ensure({ ...scene.contextFor(resource, annotating(resource)), peers });
  };

  test('is on record until he has it no more', async () => {
    expect(await ensure()).toMatchObject({ reason: 'Conflict', ownership: { contested: ['thing'] } });
    holders = [];
    const taken = await ensure();
    expect(taken).toMatchObject({ reason: 'Available', ownership: { parts: ['thing'] } });
    expect(taken).not.toHaveProperty('ownership.contested');
  });

  test('is looked at once more where he went while another part waited for its turn', async () => {
    const get = async () => {
      holders = [];
      return {};
    };
    const freed = await ensure([scene.part, { ...other, get }]);
    expect(freed).toMatchObject({
      reason: 'Creating',
      retry: { kind: 'after', ms: 0 },
      ownership: { parts: ['other'] },
    });
    expect(freed).not.toHaveProperty('ownership.contested');
  });

  test('is left to him where he got it, with no status of it yet, while another part was read', async () => {
    const { recordOf, appliedParts, account } = annotation;
    const annotations = { [recordOf]: 'v', [appliedParts]: 'thing', [account]: 'default' };
    // Of two who have nothing but such a record the elder has it.
    const younger: ManagedObject = {
      ...holder,
      metadata: { ...holder.metadata, annotations, creationTimestamp: '2026-01-02T00:00:00Z' },
      status: {},
    };
    holders = [];
    const get = async () => {
      await setImmediate();
      holders = [younger];
      return {};
    };
    const outcome = await ensure([
      { ...scene.part, get: async () => undefined },
      { ...other, get },
    ]);
    expect(outcome).toMatchObject({ reason: 'Conflict', ownership: { parts: ['other'] } });
    expect(scene.calls).toEqual([]);
  });

  test.each([
    ['is his where this process has put it there', 'put there', 'Conflict'],
    ['is the elder one’s where that had no answer', undefined, 'Available'],
  ])('%s, with no status of it yet, and an elder one has it on record too', async (_, fingerprint, reason) => {
    const { recordOf, appliedParts, account } = annotation;
    const records = (uid: string) => ({ [recordOf]: uid, [appliedParts]: 'thing', [account]: 'default' });
    const creationTimestamp = '2026-01-02T00:00:00Z';
    const younger = { ...holder.metadata, annotations: records('v'), creationTimestamp };
    holders = [{ ...holder, metadata: younger, status: {} }];
    scene.memory.of('v').inPlace = new Map([['thing', [{ fingerprint, fields: [], generation: 1, at: 0 }]]]);
    const elder = { ...wish, metadata: { ...wish.metadata, annotations: records('u') } };
    expect(await ensure([scene.part], elder)).toMatchObject({ reason });
    const metadata = { ...elder.metadata, generation: 2 };
    scene.now = createSettleMs;
    await ensure([scene.part], { ...elder, metadata, spec: { managementPolicy: 'Manage' } });
    expect(scene.calls).toEqual(reason === 'Conflict' ? [] : ['delete']);
  });

  test('is not changed where he got it while the change waited for its turn', async () => {
    holders = [];
    const replace: typeof scene.part.replace = async (_client, _spec, _body, call) => {
      holders = [holder];
      try {
        call.permit?.();
      } catch (cause) {
        throw new ApiError('not sent', { reason: 'Unreachable', definite: true, cause });
      }
      return {};
    };
    const told = { reason: 'Updating', message: expect.stringContaining('another resource may have it by now') };
    const waited = await ensure([{ ...scene.part, get: async () => undefined, replace }]);
    expect(waited).toMatchObject(told);
    expect(waited).not.toHaveProperty('ownership.parts');
    expect(await ensure()).toMatchObject({ reason: 'Conflict' });
  });

  test('is no matter of record of who only observes it', async () => {
    const spec = { ...wish.spec, managementPolicy: 'Observe' };
    const status = { ownership: { how: 'Applied' as const, parts: ['other'], contested: ['thing'] } };
    const seen = await ensure([scene.part], { ...wish, spec, status });
    expect(seen).toHaveProperty('ownership', { how: 'Applied', parts: ['other'] });
    expect(await ensure([scene.part], { ...wish, spec })).not.toHaveProperty('ownership');
  });
});

describe('what two are proven to have, of which one lost it to the other, whose key was rotated first', () => {
  const ownership = { how: 'Applied' as const, parts: ['thing'] };
  const ours = left({}, { generation: 1 });
  const holder: ManagedObject = {
    ...ours,
    metadata: { ...ours.metadata, name: 'b', uid: 'v' },
    status: { ownership },
  };

  /** As it is after what was reported of it before. */
  let loser: ManagedObject;
  let fate: Fate;
  beforeEach(() => {
    loser = { ...ours, status: { ...ours.status, ownership: { ...ownership, contested: ['thing'] } } };
    fate = 'stays';
  });

  async function run(how: 'ensure' | 'remove', changes: Partial<ManagedObject> = {}) {
    const object = { ...loser, ...changes };
    const index = { get: () => undefined, list: () => [], claimants: () => [holder, loser] };
    const accountOf = ({ metadata: { uid } }: ManagedObject) =>
      uid === 'v' ? { identity: 'rotated', identities: () => ['rotated', 'key'] } : { identity: 'key' };
    const peers = new Peers({ index, memory: scene.memory, accountOf });
    const context = scene.contextFor(object, { ...annotating(object), fateOf: async () => fate });
    const outcome = await scene.flow()[how]({ ...context, peers });
    if ('ownership' in outcome) loser = { ...loser, status: { ...loser.status, ownership: outcome.ownership ?? {} } };
    return outcome;
  }

  const edited = { ...ours, metadata: { ...ours.metadata, generation: 9 } };

  test.each<['ensure' | 'remove', string, Partial<ManagedObject>]>([
    ['ensure', 'is asked for no more', { spec: { managementPolicy: 'Manage' }, metadata: edited.metadata }],
    ['remove', 'is to go', { metadata: deleted(ours).metadata }],
  ])('is not removed after a wait for that one: %s, where it %s', async (how, _, changes) => {
    fate = 'changed';
    for (let n = 0; n < 3; n += 1) {
      expect(await run(how, changes)).toMatchObject({ message: expect.stringContaining('who has the thing too') });
    }
    fate = 'stays';
    await run(how, changes);
    expect(scene.calls).toEqual([]);
  });

  test('is not had again by observing it for a while', async () => {
    expect(await run('ensure')).toMatchObject({ reason: 'Conflict' });
    await run('ensure', { spec: { ...loser.spec, managementPolicy: 'Observe' } });
    expect(await run('ensure')).toMatchObject({ reason: 'Conflict' });
  });
});

import { beforeEach, expect, test } from '@jest/globals';
import type { Call, Reserved } from '../../../common/call.ts';
import { ApiError } from '../../../common/http/errors.ts';
import type { Connection } from '../connections/connection.ts';
import { annotation } from '../resource/annotations.ts';
import { fingerprint } from '../resource/json.ts';
import { type ManagedSpec, managedSpecSchema } from '../resource/resource.ts';
import type { ObjectWriter } from '../resource/writer.ts';
import { SafeCreate } from './create.ts';
import { connection, settleMs, ThingFixture } from './thing.fixture.ts';

const unknownFate = new ApiError('500', { reason: 'Unreachable', definite: false });
let thing: ThingFixture;

beforeEach(() => {
  thing = new ThingFixture();
});

test('creates of unknown fate are repeated later and later, however quickly each is looked up', async () => {
  thing.nextError = unknownFate;
  const waits: unknown[] = [];
  for (let times = 0; times < 11; times++) {
    const { retry } = await thing.reconcile();
    waits.push(retry.kind === 'backoff' ? retry.atLeastMs : retry);
    if (times < 10) await thing.settle();
  }
  expect(thing.creates).toBe(11);
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1_000));

  thing.nextError = undefined;
  await thing.settle();
  expect(await thing.reconcile()).toMatchObject({ reason: 'Available', fields: { id: 'thing_12' } });
});

test('what a create made whose answer named what never was is told of, once another is made', async () => {
  const made = [{ id: 'thing_right' }];
  let answered = { id: 'thing_wrong' };
  thing.serve({
    create: async () => answered,
    get: async (_, id) => made.find((each) => each.id === id),
    list: async function* () {
      yield* made;
    },
  });
  await thing.reconcile();
  answered = { id: 'thing_2' };
  made.push(answered);
  for (let times = 0; times < 4 && thing.object.metadata.annotations?.[annotation.externalID] !== 'thing_2'; times++) {
    thing.clock.advance(settleMs);
    await thing.reconcile({ requested: true });
  }
  thing.clock.advance(settleMs);
  await thing.reconcile({ drift: true });
  expect(thing.told).toEqual([
    'Created created thing thing_wrong',
    'DriftCorrected made thing thing_2 in place of thing_wrong, which was gone',
    'Orphaned thing thing_right is held by no resource: an earlier create of this one may have made it',
  ]);
});

test('a create that was refused for certain is withdrawn before a look-up for a twin may count it as over', async () => {
  thing.nextError = new ApiError('400', { reason: 'Rejected', definite: true });
  const objects = thing.accountObjects();
  const seen: boolean[] = [];
  const insist: ObjectWriter['insist'] = async (given, changes) => {
    seen.push(objects.claims.isCreating('u', fingerprint({})));
    return thing.annotate(given, changes(given));
  };
  thing.writer.insist = insist;
  const create = new SafeCreate(thing.context(), thing.contract, objects);
  expect(await create.perform(managedSpecSchema.parse({}))).toMatchObject({ reason: 'Rejected' });
  expect(seen).toEqual([true]);
  expect(thing.object.metadata.annotations).toEqual({ [annotation.recordOf]: 'u' });
});

test('after creates of unknown fate a refusal for certain does not bring the next one sooner', async () => {
  thing.nextError = unknownFate;
  for (let times = 0; times < 5; times++) {
    await thing.reconcile();
    await thing.settle();
  }
  await thing.reconcile();
  await thing.settle();
  thing.nextError = new ApiError('no connection', { reason: 'Unreachable', definite: true });
  expect((await thing.reconcile()).retry).toEqual({ kind: 'backoff', atLeastMs: 32_000 });
});

test('an id that a person names while the create is under way is told of, and what was made stays on record', async () => {
  thing.serve({
    create: async () => {
      await thing.annotate(thing.object, { [annotation.externalID]: 'thing_named' });
      return { id: 'thing_made' };
    },
  });
  const { reason, message } = await thing.reconcile();
  expect(reason).toBe('Rejected');
  expect(message).toContain('external-id names thing_named, but this resource manages thing thing_made');
  expect(thing.object.metadata.annotations).toMatchObject({
    [annotation.externalID]: 'thing_named',
    [annotation.createdID]: 'thing_made',
  });
});

test('the id of what it made before, which a restored backup brings back meanwhile, is nobody’s wish', async () => {
  thing.serve({
    create: async () => {
      await thing.annotate(thing.object, { [annotation.externalID]: 'thing_old', [annotation.createdID]: 'thing_old' });
      return { id: 'thing_made' };
    },
  });
  await thing.reconcile();
  expect(thing.object.metadata.annotations).toMatchObject({
    [annotation.externalID]: 'thing_made',
    [annotation.createdID]: 'thing_made',
  });
});

test('what was made is known to be of the key that it was sent with, whatever came before the answer', async () => {
  const sentAt = thing.clock.now();
  const create: typeof thing.contract.create = async () => {
    thing.clock.freeze(1_000);
    return { id: 'thing_1' };
  };
  await new SafeCreate(thing.context(), { ...thing.contract, create }, thing.accountObjects()).perform(
    managedSpecSchema.parse({}),
  );
  const { made, seen } = thing.memory.of('u');
  expect([made?.at, seen?.at, seen?.firstAt]).toEqual([sentAt, sentAt, sentAt + 1_000]);
});

test('the turn of a create comes before its intent, is given to the create, and is held until that is over', async () => {
  const steps: string[] = [];
  const reserve = async (call: Call): Promise<Reserved> => {
    steps.push(`reserve ${thing.object.metadata.annotations?.[annotation.createIntent] !== undefined}`);
    return { call: { ...call, reservation: steps }, [Symbol.dispose]: () => void steps.push('give back') };
  };
  await performWith(reserve, {
    create: async (_client, _spec, { reservation }) => {
      steps.push(`create ${reservation === steps}`);
      await new Promise((resolve) => setImmediate(resolve));
      steps.push('created');
      return { id: 'thing_1' };
    },
  });
  expect(steps).toEqual(['reserve false', 'create true', 'created', 'give back']);
});

test('what is given up while it waits for its turn leaves no intent', async () => {
  const error = new ApiError('not sent', { reason: 'Unreachable', definite: true });
  expect(await performWith(() => Promise.reject(error), {})).toMatchObject({ reason: 'Unreachable' });
  expect([thing.object.metadata.annotations ?? {}, thing.creates]).toEqual([{}, 0]);
});

test.each(['while a create waits for its turn', 'while it is marked', 'while a pause keeps it once more'])(
  'another key that comes %s makes nothing, and leaves no intent',
  async (when) => {
    const mine: Connection<undefined> & { since: number } = { ...connection, since: 0 };
    const { record } = thing.writer;
    thing.writer.record = async (...given) => {
      if (when.endsWith('marked')) mine.since = 1;
      return (record as ObjectWriter['record'])(...given);
    };
    mine.reserve = async (call) => {
      if (when.endsWith('turn')) mine.since = 1;
      return { call, [Symbol.dispose]: () => {} };
    };
    const contract = {
      ...thing.contract,
      create: async (client: undefined, spec: ManagedSpec, call: Call) => {
        if (when.endsWith('once more')) mine.since = 1;
        try {
          call.permit?.();
        } catch (cause) {
          throw new ApiError('not sent', { reason: 'Unreachable', definite: true, cause });
        }
        return thing.contract.create(client, spec, call);
      },
    };
    const create = new SafeCreate(thing.context({ connection: mine }), contract, thing.accountObjects());
    expect(await create.perform(managedSpecSchema.parse({}))).toMatchObject({
      reason: 'Creating',
      retry: { kind: 'after', ms: 0 },
    });
    expect(thing.creates).toBe(0);
    expect(thing.object.metadata.annotations ?? {}).not.toHaveProperty([annotation.createIntent]);
  },
);

function performWith(reserve: (call: Call) => Promise<Reserved>, changes: Partial<ThingFixture['contract']>) {
  const context = thing.context({ connection: { ...connection, reserve } });
  const create = new SafeCreate(context, { ...thing.contract, ...changes }, thing.accountObjects());
  return create.perform(managedSpecSchema.parse({}));
}

test('a create that was given up before its mark has replaced nothing', async () => {
  await thing.reconcile();
  thing.serve({ get: async () => undefined });
  const reserve = () => Promise.reject(new ApiError('no', { reason: 'RateLimited', definite: true }));
  await thing.reconcile();
  thing.clock.advance(settleMs);
  const report = await thing.reconcile({}, { connection: { ...connection, reserve } });
  expect(report).toMatchObject({ reason: 'RateLimited' });
  expect(thing.memory.of('u').recreated).toBeUndefined();
});

import { beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../common/http/errors.ts';
import { contextOf } from '../context.fixture.ts';
import { Memory } from '../resource/memory.ts';
import type { Condition, ManagedObject } from '../resource/resource.ts';
import { fieldsOf } from './fields.ts';
import type { Part } from './part.ts';
import { PartReconciler } from './part-reconciler.ts';
import { nothingReferred } from './parts.fixture.ts';

type Body = Readonly<Record<string, unknown>>;

let memory: Memory;
/** The module as the service has it, and what it was sent. */
let there: Body | undefined;
let puts: Body[];
let fails: 'before' | 'after' | undefined;
let now: number;
/** Which key was in force, by the second. */
let keys: string;

beforeEach(() => {
  [memory, there, puts, fails] = [new Memory(), undefined, [], undefined];
  [now, keys] = [0, 'a'];
});

/** The service picks what is not asked for, and shows all of it. */
const part: Part<never, undefined, Body, Body> = {
  ...{ name: 'thing', condition: 'ThingReady', displayName: 'thing' },
  desired: async ({ thing: { colourOf, ...thing } }: { thing: Body }) =>
    colourOf === undefined ? thing : { ...thing, colour: colourOf },
  ...fieldsOf<Body, Body>({
    size: 'size',
    colour: 'colour',
    shape: 'shape',
  }),
  status: () => ({}),
  get: async () => there,
  replace: async (_client, _spec, body) => {
    puts.push(body);
    if (fails !== 'before') there = { size: 1, colour: 'grey', ...(body as object) };
    if (fails !== undefined) throw new ApiError('reset', { reason: 'Unreachable', definite: false });
    return there as Body;
  },
  delete: async () => 'deleted',
};

interface Given {
  /** The generation as which it is on record to be in place. */
  readonly inPlace?: number;
  /** The generation as which its condition alone says that it is. */
  readonly shown?: number;
  readonly applied?: boolean;
  readonly managementPolicy?: 'Manage' | 'Observe';
  /** What differs now is drift. */
  readonly drift?: boolean;
  /** Kubernetes refuses what is written between the plan and the act. */
  readonly recordFails?: boolean;
}

/** What it comes to, and the fields that the event tells of. */
async function reconcile(generation: number, thing: Body, given: Given = {}) {
  const { inPlace, shown, applied = true, managementPolicy = 'Manage', drift = false, recordFails = false } = given;
  const condition = { ...{ type: 'ThingReady', status: 'True', reason: 'Available' }, observedGeneration: shown };
  const object: ManagedObject = {
    ...{ apiVersion: 'edge-operator.dev/v1alpha1', kind: 'Things' },
    metadata: { name: 'a', namespace: 'ns', uid: 'u', generation },
    spec: { managementPolicy, thing },
    status: {
      ownership: { generations: inPlace === undefined ? {} : { thing: { inPlace } } },
      conditions: shown === undefined ? [] : [condition as Condition],
    },
  };
  const told: string[] = [];
  const hadAnotherKey = (at: number) => keys[at] !== keys.at(-1);
  const connection = { key: 'default', client: undefined, hadAnotherKey };
  const context = contextOf(object, { writer: {}, connection, memory, now: () => now });
  const journal = { ...context.journal, event: (_: string, message: string) => told.push(message) };
  const occasion = { ...context.occasion, drift };
  const reconciler = new PartReconciler(part, { ...context, journal, occasion } as never, {
    spec: object.spec as never,
    ...{ parent: 'p', claim: 'c', named: true, applied, createSettleMs: 1 },
    ...{ seen: new Map(), lostDeletes: new Map() },
  });
  const plan = await reconciler.plan(nothingReferred);
  if (recordFails) throw new Error('409');
  const { report } = await reconciler.act(plan);
  return { reason: report?.reason, told };
}

describe('a field that the spec leaves out', () => {
  const chosen = { size: 1, colour: 'red', shape: 'round' };

  test('stays as somebody chose it there when another one is put back, or changed', async () => {
    await reconcile(1, { size: 1 });
    there = { ...chosen, size: 2 };
    expect(await reconcile(1, { size: 1 })).toEqual({ reason: 'Available', told: ['updated size of thing of p'] });
    expect(there).toEqual(chosen);
    await reconcile(2, { size: 3 });
    expect(there).toEqual({ ...chosen, size: 3 });
  });

  test('stays there in a module that is adopted', async () => {
    there = { ...chosen, size: 2 };
    await reconcile(1, { size: 1 }, { applied: false });
    expect(there).toEqual(chosen);
  });

  test('stays there where a definition that does not know it took it out of the spec, until a person leaves it out', async () => {
    const all = { size: 1, colour: 'red' };
    await reconcile(1, all);
    await reconcile(2, all);
    there = { ...all, size: 2 };
    await reconcile(2, { size: 1 });
    await reconcile(2, { size: 1 });
    expect(there).toEqual(all);
    await reconcile(3, { size: 1 });
    expect(there).toEqual({ size: 1, colour: 'grey' });
  });

  test('stays there too where what sent it had no answer', async () => {
    fails = 'after';
    await reconcile(1, { size: 1, colour: 'red' });
    fails = undefined;
    await reconcile(1, { size: 1 });
    expect(there).toEqual({ size: 1, colour: 'red' });
    await reconcile(2, { size: 1 });
    expect(there).toEqual({ size: 1, colour: 'grey' });
  });

  test('stays there while another one leaves the spec', async () => {
    await reconcile(1, { size: 1, colour: 'red' });
    there = chosen;
    await reconcile(2, { size: 1 });
    expect(there).toEqual({ size: 1, colour: 'grey', shape: 'round' });
  });
});

describe('a field that leaves the spec', () => {
  const red = { size: 1, colour: 'red' };

  test('leaves the module, once', async () => {
    await reconcile(1, red);
    expect(await reconcile(2, { size: 1 })).toEqual({ reason: 'Available', told: ['updated colour of thing of p'] });
    expect(there).toEqual({ size: 1, colour: 'grey' });
    await reconcile(3, { size: 1 });
    expect(puts).toEqual([red, { size: 1 }]);
  });

  test('while the module is only observed, leaves it when it is managed again', async () => {
    await reconcile(1, red);
    const asked = { inPlace: 2 };
    await reconcile(2, { size: 1 }, { managementPolicy: 'Observe' });
    await reconcile(2, { size: 1 }, { ...asked, managementPolicy: 'Observe' });
    expect(there).toEqual(red);
    await reconcile(3, { size: 1 }, asked);
    expect(there).toEqual({ size: 1, colour: 'grey' });
    await reconcile(4, { size: 1 }, { managementPolicy: 'Observe' });
    await reconcile(5, { size: 1 });
    expect(puts).toEqual([red, { size: 1 }]);
  });

  test('leaves it also when that fails at first', async () => {
    await reconcile(1, red);
    fails = 'before';
    for (const reason of ['Unreachable', 'Unreachable']) expect((await reconcile(2, { size: 1 })).reason).toBe(reason);
    fails = undefined;
    expect((await reconcile(2, { size: 1 })).reason).toBe('Available');
    expect(there).toEqual({ size: 1, colour: 'grey' });
  });

  test('leaves it where it came by a change without an answer', async () => {
    await reconcile(1, { size: 1 });
    fails = 'after';
    await reconcile(2, red);
    fails = undefined;
    await reconcile(3, { size: 1 });
    expect(there).toEqual({ size: 1, colour: 'grey' });
  });

  test('while another process acted leaves it by that the status speaks of an earlier spec', async () => {
    there = red;
    fails = 'before';
    await reconcile(2, { size: 1 }, { inPlace: 1 });
    fails = undefined;
    expect(await reconcile(2, { size: 1 }, { inPlace: 1 })).toEqual({
      ...{ reason: 'Available', told: ['replaced thing of p'] },
    });
    await reconcile(2, { size: 1 }, { inPlace: 1 });
    expect(puts).toEqual([{ size: 1 }, { size: 1 }]);
  });

  test('of a module that a later spec came to name was never set: what had no answer is not sent again', async () => {
    fails = 'after';
    await reconcile(2, { size: 1 }, { applied: false });
    fails = undefined;
    expect(await reconcile(2, { size: 1 })).toEqual({ reason: 'Available', told: [] });
    expect(puts).toEqual([{ size: 1 }]);
  });

  test('is not thought to be there for ever by a status that was behind', async () => {
    there = { size: 1, colour: 'grey' };
    const behind = { inPlace: 1, recordFails: true };
    await expect(reconcile(2, { size: 1 }, behind)).rejects.toThrow('409');
    await reconcile(2, { size: 1 }, { inPlace: 2 });
    expect(puts).toEqual([]);
  });

  test('without a difference is no drift, also of a resource that was refused for other reasons', async () => {
    there = red;
    const { told } = await reconcile(2, { size: 1 }, { drift: true });
    expect(told).toEqual(['replaced thing of p']);
  });

  test('for another one that says the same, or comes in its place, is nothing that is left there', async () => {
    await reconcile(1, red);
    expect(await reconcile(2, { size: 1, colourOf: 'red' })).toEqual({ reason: 'Available', told: [] });
    expect(await reconcile(3, red)).toEqual({ reason: 'Available', told: [] });
    expect(puts).toEqual([red]);
  });

  test('of a module that leaves out none is nothing that is left there, whatever another process sent', async () => {
    there = { ...red, shape: 'round' };
    expect(await reconcile(2, there, { inPlace: 1 })).toEqual({ reason: 'Available', told: [] });
    expect(puts).toEqual([]);
  });

  describe('while another key is in force', () => {
    beforeEach(async () => {
      await reconcile(1, red);
      [now, keys] = [1, 'ab'];
    });

    test('leaves the module of each account', async () => {
      there = undefined;
      await reconcile(2, { size: 1 });
      [now, keys, there] = [2, 'aba', red];
      await reconcile(2, { size: 1 }, { inPlace: 2 });
      expect(there).toEqual({ size: 1, colour: 'grey' });
      [now, keys] = [3, 'abaa'];
      await reconcile(2, { size: 1 });
      expect(puts).toEqual([red, { size: 1 }, { size: 1 }]);
    });

    test('leaves it once where that is of the same account', async () => {
      await reconcile(2, { size: 1 });
      [now, keys] = [2, 'abb'];
      await reconcile(2, { size: 1 });
      expect(puts).toEqual([red, { size: 1 }]);
    });
  });

  test.each([{}, { inPlace: 1 }, { shown: 1 }, { inPlace: 1, shown: 2 }])(
    'leaves it, once, also in another process that finds %j on record',
    async (given) => {
      there = red;
      expect(await reconcile(2, { size: 1 }, given)).toEqual({ reason: 'Available', told: ['replaced thing of p'] });
      await reconcile(2, { size: 1 }, given);
      expect(puts).toEqual([{ size: 1 }]);
    },
  );

  test.each<[why: string, generation: number, given: Given]>([
    ['is as the spec asked before', 2, { inPlace: 2 }],
    ['is as the spec asked before, by a status of an earlier release', 2, { shown: 2 }],
    ['was never asked for otherwise', 1, {}],
    ['is observed', 2, { managementPolicy: 'Observe', inPlace: 1 }],
  ])('of a module that %s is nothing that is known to be left there', async (_, generation, given) => {
    there = red;
    expect(await reconcile(generation, { size: 1 }, given)).toEqual({ reason: 'Available', told: [] });
    expect(puts).toEqual([]);
  });

  test('of a module that was not applied is nothing that is known to be left there: it is adopted', async () => {
    there = red;
    const given: Given = { applied: false, inPlace: 1 };
    const told = ['adopted thing of p, which is as the spec asks'];
    expect(await reconcile(2, { size: 1 }, given)).toEqual({ reason: 'Available', told });
    expect(puts).toEqual([]);
  });
});

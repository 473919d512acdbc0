import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';
import { agentKinds } from './agent-states.ts';
import { cloudKinds, prepare } from './cloud-states.ts';
import { type Lab, openLab } from './lab.ts';
import { recorded, recordOf, write } from './recorded.ts';
import { driveOf, type KindStates, type State, states } from './states.ts';

/*
 * Brings a resource of every kind into every state, with the real operator, and compares what is on the API server with
 * test/deploy/statuses, which the other tests read. `npm run record:statuses` writes that anew.
 */

const recording = process.env.RECORD_STATUSES === '1';
const onRecord = recorded();
const kinds: readonly KindStates[] = [...cloudKinds, ...agentKinds];

const cases = Object.keys(states).map((name) => {
  const state = name as State;
  return { state, kinds: kinds.filter((each) => driveOf(each, state) !== undefined).map(({ kind }) => kind) };
});

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

describe.each(cases)('$state', ({ state, kinds: names }) => {
  let lab: Lab;
  let driven: ReadonlyMap<string, Promise<ManagedObject>>;
  beforeAll(async () => {
    lab = await openLab(world, { operator: state !== 'new' });
    await prepare(lab);
    const driving = kinds.map((each) => [each.kind, driveOf(each, state)?.(lab)] as const);
    driven = new Map(driving.flatMap(([kind, object]) => (object === undefined ? [] : [[kind, object]])));
    await Promise.allSettled(driven.values());
  });
  afterAll(() => lab.close());

  test.each(names)('%s', async (kind) => {
    const object = await (driven.get(kind) as Promise<ManagedObject>);
    if (recording) return write(kind, state, recordOf(object));
    const expected = onRecord.find((each) => each.kind === kind && each.state === state)?.text;
    let last = recordOf(object);
    // A status may say less for a moment, and then what is on record.
    const probe = async () => {
      if (last !== expected) last = recordOf((await world.get(object)) ?? object);
      return last === expected;
    };
    await until('what is on record', probe, 5_000).catch(() => {});
    expect(last).toBe(expected);
  });
});

test('every kind is on record in every state that it has, and nothing more is', () => {
  const expected = cases.flatMap(({ state, kinds: names }) => names.map((kind) => `${kind}/${state}`));
  expect(
    recorded()
      .map(({ kind, state }) => `${kind}/${state}`)
      .sort(),
  ).toEqual(expected.sort());
});

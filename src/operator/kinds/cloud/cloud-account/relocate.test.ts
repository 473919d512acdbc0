import { beforeEach, expect, test } from '@jest/globals';
import type { Call } from '../../../../common/call.ts';
import type { ManagedObject } from '../../../reconcile/resource/resource.ts';
import type { Relocation } from '../accounts/homes.ts';
import { relocate } from './relocate.ts';

const object = { metadata: { namespace: 'a', name: 'one' } } as ManagedObject;
let done: string[];

beforeEach(() => {
  done = [];
});

function relocated(relocation: Relocation | undefined) {
  let isAway = false;
  const note = (what: string) => async () => void done.push(isAway ? what : `${what} in the way of others`);
  const call: Pick<Call, 'away'> = {
    away: async (wait) => {
      isAway = true;
      return wait();
    },
  };
  const homes = { relocationOf: () => relocation, recordOf: (shard: number) => `${shard}/3` };
  const place = async (shard: string) => void done.push(shard);
  return relocate({ homes, mirrors: { stop: note('stopped') }, drain: note('drained') }, object, place, call);
}

test('an account that is where it belongs stays', async () => {
  expect(await relocated(undefined)).toBeUndefined();
  expect(done).toEqual([]);
});

test('one that may not go yet is looked at again', async () => {
  expect(await relocated({ to: 2, inMs: 500 })).toBe(500);
  expect(done).toEqual([]);
});

test('one that goes is begun anew, also in a shard of this process: what is under way ends with the one it was in', async () => {
  expect(await relocated({ to: 2, inMs: 0 })).toBe(0);
  expect(done).toEqual(['drained', 'stopped', '2/3']);
});

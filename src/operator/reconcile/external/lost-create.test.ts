import { describe, expect, test } from '@jest/globals';
import { notBefore, resolveLostCreate, type UnresolvedCreate } from './lost-create.ts';

const t0 = Date.parse('2026-01-01T00:00:00Z');
const create = (uid: string, seconds = 0): UnresolvedCreate => ({
  uid,
  notBefore: notBefore({ at: new Date(t0 + seconds * 1_000).toISOString(), clock: 'own' }),
});
const object = (id: string, seconds = 0) => ({ id, createdAt: new Date(t0 + seconds * 1_000).toISOString() });

describe('resolveLostCreate', () => {
  test('one object: it is ours', () => {
    expect(resolveLostCreate(create('a'), [create('a')], [object('x', 1)])).toEqual({ kind: 'adopt', id: 'x' });
  });

  test('no object: nothing was made', () => {
    expect(resolveLostCreate(create('a'), [create('a')], [])).toEqual({ kind: 'none' });
  });

  test('two objects for one create: one is somebody else’s, and both are named', () => {
    const resolution = resolveLostCreate(create('a'), [create('a')], [object('x'), object('y')]);
    expect(resolution).toEqual({ kind: 'ambiguous', ids: ['x', 'y'] });
  });

  test('an object older than the create, by more than clocks may differ, is not ours', () => {
    const old = object('old', -61);
    expect(resolveLostCreate(create('a'), [create('a')], [old])).toEqual({ kind: 'none' });
    expect(resolveLostCreate(create('a'), [create('a')], [old, object('x')])).toEqual({ kind: 'adopt', id: 'x' });
  });

  test('the service’s clock may lag behind ours', () => {
    const early = object('x', -59);
    expect(resolveLostCreate(create('a'), [create('a')], [early])).toEqual({ kind: 'adopt', id: 'x' });
  });

  test('by the clock of the service it need not be looked for so far back', () => {
    const at = new Date(t0).toISOString();
    expect(t0 - notBefore({ at, clock: 'own' })).toBe(60_000);
    expect(t0 - notBefore({ at, clock: 'service' })).toBe(5_000);
    expect(notBefore({})).toBeLessThan(0);
  });

  test('twins lost together are handed out oldest first, each to one', () => {
    const lost = [create('b', 5), create('a', 1), create('c', 9)];
    const made = [object('y', 6), object('x', 2)];
    const results = lost.map((mine) => resolveLostCreate(mine, lost, made));
    expect(results).toEqual([{ kind: 'adopt', id: 'y' }, { kind: 'adopt', id: 'x' }, { kind: 'none' }]);
  });

  test('no two creates ever get the same object, whatever the order', () => {
    for (let round = 0; round < 200; round++) {
      const lost = Array.from({ length: 1 + (round % 5) }, (_, i) => create(`u${(i * 7 + round) % 11}`, (i * 13) % 7));
      const made = Array.from({ length: (round >> 2) % 6 }, (_, i) => object(`o${i}`, (i * 5) % 11));
      const ids = lost
        .map((mine) => resolveLostCreate(mine, lost, made))
        .flatMap((r) => (r.kind === 'adopt' ? [r.id] : []));
      expect(new Set(ids).size).toBe(ids.length);
    }
  });
});

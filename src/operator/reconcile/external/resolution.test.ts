import { describe, expect, test } from '@jest/globals';
import { mayBeMade, resolveLostCreate, soughtSince, type UnresolvedCreate, unreadable } from './resolution.ts';

const t0 = Date.parse('2026-01-01T00:00:00Z');
const create = (uid: string, seconds = 0): UnresolvedCreate => ({
  uid,
  ...soughtSince({ at: new Date(t0 + seconds * 1_000).toISOString(), clock: 'own' }, { own: 0, service: undefined }),
});
const serviceClock = { own: 0, service: t0 + 60_000 };
const intentAt = (seconds: number) => ({
  at: new Date(t0 + seconds * 1_000).toISOString(),
  clock: 'service' as const,
});
const object = (id: string, seconds = 0) => ({ id, createdAt: new Date(t0 + seconds * 1_000).toISOString() });

describe('resolveLostCreate', () => {
  test('one object: it is ours', () => {
    expect(resolveLostCreate(create('a'), [create('a')], [object('x', 1)])).toEqual({ kind: 'adopt', id: 'x' });
  });

  test('no object: nothing was made', () => {
    expect(resolveLostCreate(create('a'), [create('a')], [])).toEqual({ kind: 'none' });
  });

  describe('with a create of another installation, which may have another account', () => {
    const foreign = { ...create('b', -1), isForeign: true };

    test('what it may have made is not taken, nor is it said that nothing was made', () => {
      const resolution = resolveLostCreate(create('a'), [create('a'), foreign], [object('x', 1)]);
      expect(resolution).toEqual({ kind: 'unlikely', ids: ['x'] });
    });

    test('nothing was made where there is nothing', () => {
      expect(resolveLostCreate(create('a'), [create('a'), foreign], [])).toEqual({ kind: 'none' });
    });

    test('what is certain either way is', () => {
      const later = { ...create('b', 60), isForeign: true };
      const resolution = resolveLostCreate(create('a'), [create('a'), later], [object('x', 1)]);
      expect(resolution).toEqual({ kind: 'adopt', id: 'x' });
    });
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

  test('one whose date cannot be read may be ours, and may be as old as any: a person decides', () => {
    const undated = { id: 'x', createdAt: '' };
    expect(resolveLostCreate(create('a'), [create('a')], [undated])).toEqual({ kind: 'unlikely', ids: ['x'] });
    const dated = object('y', 1);
    expect(resolveLostCreate(create('a'), [create('a')], [undated, dated])).toEqual({ kind: 'adopt', id: 'y' });
  });

  describe('by our clock, with that of the service known since', () => {
    const at = new Date(t0).toISOString();
    const sought = soughtSince({ at, clock: 'own' }, { own: t0 + 40_000, service: t0 + 40_000, sentMsAgo: 40_000 });
    const mine = { uid: 'a', ...sought };

    test('one that is older than the create is not taken, though clocks may have been set', () => {
      expect(resolveLostCreate(mine, [mine], [object('old', -10)])).toEqual({ kind: 'unlikely', ids: ['old'] });
      expect(resolveLostCreate(mine, [mine], [object('older', -61)])).toEqual({ kind: 'none' });
    });

    test('the one that appears later is', () => {
      const resolution = resolveLostCreate(mine, [mine], [object('old', -10), object('x', 1)]);
      expect(resolution).toEqual({ kind: 'adopt', id: 'x' });
    });

    test('each of two gets its own, though one is looked for further back', () => {
      const other = create('b', -9);
      const theirs = { uid: 'b', notBefore: other.notBefore + 55_000, likelySince: other.notBefore + 55_000 };
      const [lost, made] = [
        [mine, theirs],
        [object('x', -8), object('y', 1)],
      ];
      expect(resolveLostCreate(mine, lost, made)).toEqual({ kind: 'adopt', id: 'y' });
      expect(resolveLostCreate(theirs, lost, made)).toEqual({ kind: 'adopt', id: 'x' });
      // Nor does it take the second of two that are older than it is.
      const older = [object('x', -8), object('z', -7)];
      expect(resolveLostCreate(mine, lost, older)).toEqual({ kind: 'unlikely', ids: ['z'] });
    });

    test('of a process that is gone it is what our clock shows', () => {
      const now = { own: t0 + 100_000, service: t0 + 130_000 };
      expect(soughtSince({ at, clock: 'own' }, now)).toEqual({ notBefore: t0 - 60_000, likelySince: t0 + 25_000 });
    });
  });

  test('by the clock of the service it need not be looked for so far back', () => {
    const at = new Date(t0).toISOString();
    const now = { own: t0, service: undefined };
    expect(t0 - soughtSince({ at, clock: 'own' }, now).notBefore).toBe(60_000);
    expect(t0 - soughtSince({ at, clock: 'service' }, now).notBefore).toBe(5_000);
    expect(soughtSince({}, now).notBefore).toBeLessThan(0);
  });

  test('a clock that was wrong, or was set since, does not hide what was made', () => {
    const at = new Date(t0).toISOString();
    // Ours is ten minutes fast; a minute has passed.
    const fast = { own: t0 + 60_000, service: t0 - 540_000 };
    expect(soughtSince({ at, clock: 'own' }, fast).notBefore).toBe(t0 - 600_000 - 60_000);
    // The service's was set back by ten minutes before the create, which was sent a minute ago.
    expect(soughtSince({ at, clock: 'service' }, { ...fast, sentMsAgo: 60_000 }).notBefore).toBe(t0 - 600_000 - 5_000);
    const sent = { own: 0, service: t0, sentMsAgo: 90_000 };
    expect(soughtSince({ at, clock: 'own' }, sent).notBefore).toBe(t0 - 90_000 - 60_000);
  });

  test('our clock was ahead, was set right, and the process that sent it is gone: no younger than the resource', () => {
    const at = new Date(t0 + 660_000).toISOString();
    const now = { own: t0 + 90_000, service: t0 + 90_000 };
    expect(soughtSince({ at, clock: 'own' }, now, t0 - 30_000).notBefore).toBe(t0 - 30_000 - 60_000);
    expect(soughtSince({ at, clock: 'service' }, now, t0 - 30_000).notBefore).toBe(t0 + 660_000 - 5_000);
  });

  test('twins lost together are handed out oldest first, each to one', () => {
    const lost = [create('b', 5), create('a', 1), create('c', 9)];
    const made = [object('y', 6), object('x', 2)];
    const results = lost.map((mine) => resolveLostCreate(mine, lost, made));
    expect(results).toEqual([{ kind: 'adopt', id: 'y' }, { kind: 'adopt', id: 'x' }, { kind: 'none' }]);
  });

  test('where there are too few, what is to go gets what the others leave', () => {
    const lost = [{ ...create('a', 1), isGoing: true }, create('b', 5), create('c', 9)];
    const taken = (seconds: readonly number[]) =>
      lost.map((mine) => {
        const made = seconds.map((each) => object(`at ${each}`, each));
        const resolution = resolveLostCreate(mine, lost, made);
        return resolution.kind === 'adopt' ? resolution.id : resolution.kind;
      });
    expect(taken([2, 6, 10])).toEqual(['at 2', 'at 6', 'at 10']);
    expect(taken([6, 10])).toEqual(['none', 'at 6', 'at 10']);
    expect(taken([2])).toEqual(['none', 'at 2', 'none']);
    // Only that one can have made it.
    expect(taken([-57])).toEqual(['at -57', 'none', 'none']);
  });

  test('of two objects that only one create can have made, one is somebody else’s, however many more are looked for', () => {
    const by = (uid: string, seconds: number) => ({ uid, ...soughtSince(intentAt(seconds), serviceClock) });
    const lost = [by('a', 0), by('b', 30)] as const;
    const made = [object('theirs', 5), object('own', 10)];
    expect(resolveLostCreate(lost[0], lost, made)).toEqual({ kind: 'ambiguous', ids: ['theirs', 'own'] });
    expect(resolveLostCreate(lost[1], lost, made)).toEqual({ kind: 'none' });
    // Two that each can have made are handed out.
    const later = [object('x', 10), object('y', 40)];
    expect(lost.map((mine) => resolveLostCreate(mine, lost, later))).toEqual([
      { kind: 'adopt', id: 'x' },
      { kind: 'adopt', id: 'y' },
    ]);
  });

  test('thousands that are lost together hold nobody up', () => {
    const lost = Array.from({ length: 3_000 }, (_, i) => create(`u${i}`, i));
    const made = lost.slice(1_000).map((_, i) => object(`o${i}`, 1_000 + i));
    const beganAt = performance.now();
    expect(resolveLostCreate(create('u0', 0), lost, made)).toEqual({ kind: 'adopt', id: 'o0' });
    expect(performance.now() - beganAt).toBeLessThan(250);
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

describe('an item that cannot be read', () => {
  const notBefore = Date.parse('2026-01-02T03:03:05Z');
  const mine = { uid: 'u', notBefore, likelySince: notBefore };
  const problem = 'description: expected string';

  test.each([
    ['none', []],
    ['one from before the create', [{ id: 'a', createdAt: '2026-01-02T03:00:00Z', problem }]],
  ])('%s is of no concern', (_, odd) => {
    expect(mayBeMade(mine, odd)).toEqual([]);
  });

  test.each([
    ['one made since', { id: 'a', createdAt: '2026-01-02T03:04:06Z', problem }, /^item a of the list may be/],
    ['one of the other clock’s past', { id: 'a', createdAt: '2026-01-02T03:03:30Z', problem }, /^item a/],
    ['one that does not say when it was made', { id: 'a', createdAt: undefined, problem }, /^item a/],
    ['one without an id', { id: undefined, createdAt: undefined, problem }, /^an item without an id/],
  ])('%s may be what the create made', (_, odd, message) => {
    expect(mayBeMade(mine, [odd])).toEqual([odd]);
    expect(unreadable('reserved address', odd)).toMatchObject({
      reason: 'Unreachable',
      message: expect.stringMatching(message),
    });
  });
});

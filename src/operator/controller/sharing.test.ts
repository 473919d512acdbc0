import { describe, expect, test } from '@jest/globals';
import { ManualClock } from './manual-clock.fixture.ts';
import { Sharing } from './sharing.ts';

const pollMs = 2_000;

/** Leases and those who share them: each looks at every lease once a poll, as electors do. */
class Room {
  readonly holders: string[];
  readonly #wishes: (string | undefined)[];
  readonly #sharers = new Map<string, Sharing>();
  readonly #clock = new ManualClock();
  readonly #windingUpMs: number;
  moves = 0;

  constructor(leases: number, windingUpMs = 0) {
    this.#windingUpMs = windingUpMs;
    this.holders = Array.from({ length: leases }, () => '');
    this.#wishes = Array.from({ length: leases }, () => undefined);
  }

  join(...names: string[]): void {
    for (const identity of names)
      this.#sharers.set(identity, new Sharing({ identity, holders: () => this.holders, monotonic: this.#clock }));
  }

  /** It is gone, and its leases have run out. */
  leave(name: string): void {
    this.#sharers.delete(name);
    for (const [lease, holder] of this.holders.entries()) if (holder === name) this.holders[lease] = '';
  }

  async pass(polls: number): Promise<void> {
    for (let poll = 0; poll < polls; poll += 1) {
      for (const [name, sharing] of this.#sharers) this.#poll(name, sharing);
      await this.#clock.advance(pollMs);
    }
  }

  /** The most and the least that anyone has, and what nobody has. */
  get spread(): readonly [least: number, most: number, free: number] {
    const counts = [...this.#sharers.keys()].map((name) => this.holders.filter((holder) => holder === name).length);
    return [Math.min(...counts), Math.max(...counts), this.holders.filter((holder) => holder === '').length];
  }

  #poll(name: string, sharing: Sharing): void {
    for (const [lease, holder] of this.holders.entries()) {
      const wish = this.#wishes[lease];
      if (holder === name && wish !== undefined) {
        this.#wishes[lease] = undefined;
        if (sharing.yields(lease, wish)) void this.#giveAway(lease, sharing);
      } else if (holder === '' && sharing.mayTake(lease)) {
        this.moves += 1;
        this.holders[lease] = name;
        this.#wishes[lease] = undefined;
      } else if (holder !== name && holder !== '' && sharing.wants(lease)) this.#wishes[lease] ??= name;
    }
  }

  async #giveAway(lease: number, sharing: Sharing): Promise<void> {
    if (this.#windingUpMs > 0) await this.#clock.sleep(this.#windingUpMs);
    this.holders[lease] = '';
    sharing.gave(lease);
  }
}

test('the only one takes all, at its first look at the last of them', async () => {
  const room = new Room(4);
  room.join('a');
  await room.pass(2);
  expect(room.holders).toEqual(['a', 'a', 'a', 'a']);
});

describe.each([
  [2, 2],
  [2, 3],
  [3, 2],
  [4, 3],
  [5, 4],
  [16, 3],
  [64, 5],
])('%i leases for %i', (leases, count) => {
  const names = Array.from({ length: count }, (_, index) => `replica-${index}`);
  const even = [Math.floor(leases / count), Math.ceil(leases / count), 0];

  test('who come one after the other, until all have as many; and then nothing moves', async () => {
    const room = new Room(leases);
    for (const name of names) {
      room.join(name);
      await room.pass(8);
    }
    await room.pass(8);
    expect(room.spread).toEqual(even);
    const { moves } = room;
    await room.pass(50);
    expect([room.moves, room.spread]).toEqual([moves, even]);
  });

  test('who come at the same time', async () => {
    const room = new Room(leases);
    room.join(...names);
    await room.pass(30);
    expect(room.spread).toEqual(even);
  });

  test('one of whom dies: those that are left have its leases with their next looks, and no others move', async () => {
    const room = new Room(leases);
    room.join(...names);
    await room.pass(30);
    const [dead = ''] = names;
    const before = [...room.holders];
    room.leave(dead);
    await room.pass(2);
    const [least, most, free] = room.spread;
    expect([most - least <= 1, free]).toEqual([true, 0]);
    // Nobody knows of those that had none.
    const moved = room.holders.filter((holder, lease) => before[lease] !== dead && before[lease] !== holder);
    expect(moved).toHaveLength(leases < count ? 1 : 0);
  });
});

/** Milliseconds from when a lease is asked for until it is free: what is under way there is seen through first. */
const windUps = [0, 13_000, 18_000];

test.each(windUps)('who asks gets its share once, where it takes %i ms to give a lease away', async (windingUpMs) => {
  const room = new Room(4, windingUpMs);
  room.join('a');
  await room.pass(2);
  room.join('b');
  await room.pass(90);
  expect([room.spread, room.moves]).toEqual([[2, 2, 0], 6]);
});

test.each(windUps)(
  'who asked and died gets nothing for good: what is free %i ms later is taken again before others would miss it',
  async (windingUpMs) => {
    const room = new Room(2, windingUpMs);
    room.join('a');
    await room.pass(2);
    room.join('b');
    await room.pass(1);
    room.leave('b');
    let without = 0;
    for (let poll = 0; poll < 20; poll += 1) {
      await room.pass(1);
      if (room.spread[2] > 0) without += pollMs;
    }
    expect(room.holders).toEqual(['a', 'a']);
    expect(without).toBeGreaterThan(0);
    expect(without).toBeLessThanOrEqual(8_000);
  },
);

test('what is promised to who died holds up no other lease for longer than it takes to see work through', async () => {
  const clock = new ManualClock();
  const holders = ['a', 'a', 'a', 'b'];
  const sharing = new Sharing({ identity: 'a', holders: () => holders, monotonic: clock });
  for (const lease of holders.keys()) sharing.saw(lease);
  expect(sharing.yields(0, 'b')).toBe(true);
  holders[3] = '';
  expect(sharing.mayTake(3)).toBe(false);
  await clock.advance(30_000);
  expect(sharing.mayTake(3)).toBe(true);
});

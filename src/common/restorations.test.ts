import { beforeEach, expect, test } from '@jest/globals';
import { Restorations } from './restorations.ts';

let now: number;
let restorations: Restorations;

beforeEach(() => {
  now = 1_000;
  restorations = new Restorations({ monotonic: { now: () => now } as never, random: () => 1 });
});

/** Changed again as soon as it is restored, so many times; answers how many milliseconds that takes. */
function war(times: number, key = 'ns/a'): number {
  const startedAt = now;
  for (let time = 0; time < times; time += 1) now += restorations.next(key);
  return now - startedAt;
}

test('what is changed a few times is restored within a second each time', () => {
  const delays = Array.from({ length: 10 }, () => war(1));
  expect(Math.max(...delays)).toBeLessThan(1_000);
});

test('what is changed for ever is restored every five minutes at last, and others at once', () => {
  war(20);
  expect(war(12)).toBe(3_600_000);
  expect(war(1, 'ns/b')).toBe(1);
});

test('after a while of calm, or when it was gone, it is restored at once again', () => {
  war(20);
  now += 599_000;
  expect(war(1)).toBe(300_000);
  now += 600_000;
  expect(war(1)).toBe(1);
  war(20);
  restorations.forget('ns/a');
  expect(war(1)).toBe(1);
});

/** Changed again as soon as it is restored, so many times, by who looks before it is due, too. */
function waits(times: number): readonly number[] {
  return Array.from({ length: times }, () => {
    const ms = restorations.wait('ns/a');
    now += ms / 2;
    if (ms > 0) expect(restorations.wait('ns/a')).toBe(ms / 2);
    now += ms / 2;
    for (let failed = 0; failed < 2; failed += 1) expect(restorations.wait('ns/a')).toBe(0);
    restorations.restored('ns/a');
    return ms;
  });
}

test('a change counts once, however often it is found until it is restored', () => {
  expect(waits(12)).toEqual([...Array.from({ length: 10 }, () => 0), 1_024, 2_048]);
  expect(waits(20).at(-1)).toBe(300_000);
});

test('what waits is forgotten with the rest', () => {
  waits(12);
  expect(restorations.wait('ns/a')).toBe(4_096);
  restorations.forget('ns/a');
  expect(restorations.wait('ns/a')).toBe(0);
});

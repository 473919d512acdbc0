import { expect, test } from '@jest/globals';
import { systemClock } from '../../common/clock.ts';
import { type Turn, Turns } from './turns.ts';

let now = 0;
let slept: number[] = [];
const all = () => {
  [now, slept] = [0, []];
  return new Turns({
    ...systemClock,
    now: () => now,
    sleep: async (ms) => {
      slept.push(ms);
      now += ms;
    },
  });
};
const turns = () => all().of('');
const steps = async (turn: Turn, count: number, ms: number) => {
  for (let step = 0; step < count; step++) {
    if (turn.isOver) await turn.rest();
    now += ms;
  }
  return turn.spentMs;
};

test('long work rests three times as long as it works, and knows what it took', async () => {
  expect(await turns().take((turn) => steps(turn, 20, 4))).toBe(80);
  expect(slept.slice(0, 6)).toEqual([36, 36, 36, 36, 36, 36]);
});

test('one piece is done at a time, the next after the rest of the last, and a failure ends a turn too', async () => {
  const shared = turns();
  const done: string[] = [];
  const piece = (name: string) =>
    shared.take(async () => {
      done.push(`${name} at ${now}`);
      await Promise.resolve();
      now += 5;
      if (name === 'b') throw new Error(name);
    });
  const [a, b, c] = await Promise.allSettled([piece('a'), piece('b'), piece('c')]);
  expect([a?.status, b?.status, c?.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(done).toEqual(['a at 0', 'b at 20', 'c at 40']);
});

test('namespaces take turns, whoever has how much in them', async () => {
  const shared = all();
  const done: string[] = [];
  const piece = (namespace: string) =>
    shared.of(namespace).take(() => {
      done.push(namespace);
      now += 5;
    });
  const pieces = [...Array.from({ length: 4 }, () => piece('many')), piece('one'), piece('two'), piece('two')];
  await Promise.all(pieces);
  expect(done).toEqual(['many', 'many', 'one', 'two', 'many', 'two', 'many']);
  await piece('one');
});

test('whoever waits for a turn gives up when the signal says so, and has none', async () => {
  const shared = turns();
  const done: string[] = [];
  const stop = new AbortController();
  const release = Promise.withResolvers<void>();
  const first = shared.take(() => release.promise);
  const given = shared.take(() => done.push('given up'), stop.signal);
  const next = shared.take(() => done.push('next'));
  stop.abort(new Error('no more'));
  await expect(given).rejects.toThrow('no more');
  release.resolve();
  await Promise.all([first, next]);
  expect(done).toEqual(['next']);
  await expect(shared.take(() => done.push('late'), stop.signal)).rejects.toThrow('no more');
  expect(await shared.take(() => 1)).toBe(1);
});

test('whoever gave up takes no turn from the others of the namespace', async () => {
  const shared = all();
  const done: string[] = [];
  const stop = new AbortController();
  const release = Promise.withResolvers<void>();
  const first = shared.of('one').take(() => release.promise);
  const take = (namespace: string, signal?: AbortSignal) =>
    shared.of(namespace).take(() => done.push(namespace), signal);
  const given = Array.from({ length: 3 }, () => take('one', stop.signal).catch(() => {}));
  const rest = [take('one'), ...Array.from({ length: 3 }, () => take('many'))];
  stop.abort(new Error('no more'));
  release.resolve();
  await Promise.all([first, ...given, ...rest]);
  expect(done).toEqual(['one', 'many', 'many', 'many']);
});

test('work that takes no time waits for nothing', async () => {
  expect(await turns().take(() => 1)).toBe(1);
  expect(slept).toEqual([]);
});

import { expect, test } from '@jest/globals';
import { habits } from '../people/index.ts';
import { troubles } from '../troubles/index.ts';
import { parseFlags } from './flags.ts';
import { sets } from './sets.ts';

const names = { troublesAndHabits: ['lost-answers', 'edits'], oracles: ['calm'] };
const parse = (...args: readonly string[]) => parseFlags(args, names);

test('defaults', () => {
  expect(parse()).toMatchObject({ seeds: 100, from: 1, only: undefined, oracles: undefined, shrink: 1 });
  expect(parse('--minutes', '0.5')).toMatchObject({ seeds: undefined, minutes: 0.5 });
});

test('what is given', () => {
  const args = ['--seeds', '5', '--from', '0', '--only', 'edits, lost-answers', '--oracles', 'calm', '--workers', '3'];
  expect(parse(...args)).toMatchObject({
    seeds: 5,
    from: 0,
    only: ['edits', 'lost-answers'],
    oracles: ['calm'],
    workers: 3,
  });
  const { only = [] } = parse('--only', 'keys,edits,agents');
  expect(only).toEqual([...new Set(only)]);
  expect(only).toEqual(expect.arrayContaining(['account-swaps', 'edits', 'tunnels']));
  expect(parse('--seed', '7', '--trace')).toMatchObject({ one: { seed: 7 }, trace: true });
  expect(parse('--story', 'a.json')).toMatchObject({ one: { story: 'a.json' }, trace: false });
});

test('a set has what there is', () => {
  expect(
    Object.values(sets)
      .flat()
      .filter((name) => !(name in troubles) && !(name in habits)),
  ).toEqual([]);
});

test.each([
  [['--seeds', '0'], '--seeds: "0" is no whole number of at least 1'],
  [['--from', 'x'], '--from: "x" is no whole number of at least 0'],
  [['--minutes', '-1'], 'argument is ambiguous'],
  [['--minutes', '0'], '--minutes: "0" is no number above 0'],
  [['--only', 'nothing'], '--only: there is no "nothing"; there are lost-answers, edits, keys, restores'],
  [['--only', ','], '--only: names at least one'],
  [['--oracles', 'edits'], '--oracles: there is no "edits"'],
  [['--trace'], '--trace is of one story'],
  [['--seed', '1', '--story', 'a'], '--seed and --story exclude each other'],
  [['--seed', '1', '--seeds', '2'], '--seeds is for many'],
  [['--unknown'], "Unknown option '--unknown'"],
  [['word'], 'Unexpected argument'],
])('%j is refused', (args, message) => {
  expect(() => parse(...args)).toThrow(message);
});

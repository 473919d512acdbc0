import { expect, test } from '@jest/globals';
import { type Act, secondKey } from '../../core/story.ts';
import type { World } from '../../core/world.ts';
import { isTo, reservedAddr, tell, testInTurn, trouble } from '../small-world.fixture.ts';

testInTurn([
  ['wrong-address', { installation: 'op' }, (it) => isTo(it, 'other-cloud')],
  ['rotated-key', { installation: 'op' }, ({ flight }) => flight.headers.authorization === `Bearer ${secondKey}`],
  ['wrong-key', { installation: 'op' }, ({ flight }) => flight.headers.authorization === `Bearer ${secondKey}`],
]);

const edits = [2, 12, 22, 32, 42, 52, 62].map(
  (second): Act => ({ at: second * 1_000, do: 'apply', object: reservedAddr(`a${second}`) }),
);

/** Which lines of the trace say so, by the second. */
async function moments(
  says: RegExp,
  name: string,
  given: Readonly<Record<string, unknown>>,
): Promise<readonly number[]> {
  const { lines } = await tell([...edits, trouble(name, 10_000, 30_000, given)]);
  return lines
    .filter((line) => says.test(line))
    .map((line) => Number(line.slice(3, 5)) * 60 + Number(line.slice(6, 12)));
}

const isMeanwhile = (second: number) => second >= 10 && second <= 40;

test.each<[RegExp, string, Readonly<Record<string, unknown>>]>([
  [/ dies /, 'crashes', { probability: 0.3 }],
  [/ dies after the act of /, 'crashes', { probability: 1, position: 'after the act', to: 'cloud', atMost: 2 }],
  [/ freezes for /, 'freezes', { everyMs: 5_000, probability: 1, toMs: 2_000 }],
  [/ freezes for /, 'freezes', { when: 'requests', probability: 0.3, toMs: 2_000 }],
  [/ has its clock set /, 'clock-jumps', { everyMs: 8_000 }],
  [/ is told to stop/, 'restarts', { everyMs: 8_000 }],
])('%s by %s %j', async (says, name, given) => {
  const seconds = await moments(says, name, given);
  expect(seconds.length).toBeGreaterThan(1);
  expect(seconds.filter((second) => !isMeanwhile(second))).toEqual([]);
});

test('crashes are so many at most', async () => {
  expect(await moments(/ dies /, 'crashes', { probability: 1, atMost: 2 })).toHaveLength(2);
});

test('a crash at one boundary', async () => {
  const boundary = { to: 'cloud', method: 'POST', path: '/*', nth: 2, position: 'after the act' };
  expect(await moments(/ dies after the act of /, 'crashes', { boundary })).toEqual([expect.closeTo(22, 0)]);
});

test('a frozen process sends nothing', async () => {
  const given = { when: 'requests', probability: 1, fromMs: 4_000, toMs: 4_000 };
  const { passages } = await tell([...edits, trouble('freezes', 10_000, 9_000, given)]);
  const sent = passages.map(({ flight }) => flight.sentAt).filter((at) => at > 10_000 && at < 19_000);
  // All that it does is a request at each thaw.
  expect(sent.length).toBeLessThan(6);
  expect(passages.filter(({ flight }) => flight.path === '/reserved_addrs')).toHaveLength(7);
});

test('a clock that jumped is what the operator writes down, until it is set right', async () => {
  const { passages } = await tell([...edits, trouble('clock-jumps', 10_000, 30_000, { everyMs: 100_000 })]);
  const written = passages.flatMap(({ flight }) => {
    const at = /"lastTransitionTime":"2030-01-01T00:(\d\d):(\d\d)/.exec(flight.body ?? '');
    return at === null ? [] : [Number(at[1]) * 60 + Number(at[2]) - Math.floor(flight.sentAt / 1_000)];
  });
  const [before, ...rest] = written;
  const [skew] = rest;
  expect(written).toEqual([0, skew, skew, skew, 0, 0, 0]);
  expect([before, skew]).not.toEqual([0, 0]);
});

test('who is to begin anew is set up as before for as long as he does not end, also with another key in his file', async () => {
  const acts: Act[] = [
    { at: 5_000, do: 'freeze', installation: 'op', forMs: 20_000 },
    trouble('wrong-address', 8_000, 30_000, { installation: 'op' }),
    trouble('rotated-key', 10_000, 30_000, { installation: 'op' }),
  ];
  const worlds: World[] = [];
  await tell(acts, {}, (world) => worlds.push(world));
  const begun = worlds[0]?.beginnings.map(({ rotated = false, settings: { apiUrl } }) => [rotated, apiUrl]);
  expect(begun?.slice(0, 3)).toEqual([
    [false, 'http://cloud.sim'],
    [true, 'http://cloud.sim'],
    [false, 'http://other-cloud.sim'],
  ]);
});

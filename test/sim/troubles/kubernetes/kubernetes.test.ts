import { expect, test } from '@jest/globals';
import type { Act } from '../../core/story.ts';
import { asking } from '../client.fixture.ts';
import { isInstead, isTo, type Passage, reservedAddr, tell, testInTurn, trouble } from '../small-world.fixture.ts';

const isMutating = ({ flight }: Passage) => flight.method !== 'GET';
const isConflict = (it: Passage) => isInstead(it, 409) && it.seen?.body.includes('"reason":"Conflict"') === true;

/** What it asked to be written of records is not in the answer. */
const isStripped = ({ flight, seen }: Passage) =>
  /"annotations":\{"[^}]*create-intent":"/.test(flight.body ?? '') && seen?.body.includes('create-intent') === false;

const isPruned = ({ flight, seen }: Passage) =>
  flight.method === 'PATCH' &&
  /"status":\{[^}]*"uri":"/.test(flight.body ?? '') &&
  seen?.body.includes('"uri":') === false;

testInTurn([
  ['watches-cut', { everyMs: 8_000, cleanly: 0 }, (it) => it.flight.isWatch && it.code === 'ECONNRESET'],
  ['kube-5xx', {}, (it) => isTo(it, 'kube') && isInstead(it, 500, 503, 429)],
  ['kube-5xx', { status: 429, retryAfter: 3 }, (it) => isInstead(it, 429) && it.seen?.headers['retry-after'] === '3'],
  ['kube-403', { act: 'records' }, (it) => isInstead(it, 403) && isMutating(it) && !it.flight.path.endsWith('/status')],
  ['kube-403', { act: 'status' }, (it) => isInstead(it, 403) && it.flight.path.endsWith('/status')],
  ['kube-prunes', {}, isPruned],
  ['kube-strips', { part: 'both' }, isStripped],
  ['kube-conflicts', { probability: 0.6 }, (it) => isMutating(it) && isConflict(it)],
  ['kube-lost-answers', {}, (it) => isTo(it, 'kube') && isMutating(it) && it.flight.answer !== undefined && !it.seen],
]);

/** When the operator makes each of two addresses: one that is wanted at 20 s, within the trouble, and one at 60 s. */
async function makes(name: string, given: Readonly<Record<string, unknown>>): Promise<readonly number[]> {
  const told = await tell([
    trouble(name, 10_000, 30_000, given),
    { at: 20_000, do: 'apply', object: reservedAddr('a') },
    { at: 60_000, do: 'apply', object: reservedAddr('b') },
  ]);
  return told.passages.filter(({ flight }) => flight.method === 'POST' && flight.to.name === 'cloud').map(sentAt);
}

const sentAt = ({ flight }: Passage) => flight.sentAt;
const soonAfter = (at: number) => ({
  asymmetricMatch: (actual: unknown) => Number(actual) - at < 2_000 && Number(actual) >= at,
});

test.each([
  [{ ends: 'thawed' }, 40_000],
  [{ ends: 'cut', openOnly: true }, 40_000],
])('frozen watches tell nothing: %j', async (given, at) => {
  expect(await makes('watches-frozen', given)).toEqual([soonAfter(at), soonAfter(60_000)]);
});

test('watches lag, and then no more', async () => {
  const [first = 0, second = 0] = await makes('watches-lag', { upToMs: 9_000 });
  expect(first - 20_000).toBeGreaterThan(50);
  expect(first - 20_000).toBeLessThan(9_100);
  expect(second - 60_000).toBeLessThan(50);
});

test('of several states watches that merge show the last one', async () => {
  const { passages } = await tell([
    trouble('watches-merged', 10_000, 30_000, { withinMs: 5_000 }),
    { at: 20_000, do: 'apply', object: reservedAddr('a', 'first') },
    { at: 22_000, do: 'apply', object: reservedAddr('a', 'last') },
    { at: 60_000, do: 'apply', object: reservedAddr('b', 'afterwards') },
  ]);
  const made = passages.filter(({ flight }) => flight.method === 'POST' && flight.to.name === 'cloud');
  expect(made.map((it) => [sentAt(it), JSON.parse(it.flight.body ?? '').description])).toEqual([
    [soonAfter(25_000), 'last'],
    [soonAfter(60_000), 'afterwards'],
  ]);
});

test('watches that resume where history is forgotten are told 410', async () => {
  const { passages, lines } = await tell([
    { at: 2_000, do: 'apply', object: reservedAddr('a') },
    trouble('compacted', 10_000, 20_000, { everyMs: 8_000 }),
    ...[15_000, 25_000, 50_000].map((at) => ({ at, do: 'apply', object: reservedAddr('a', `as of ${at}`) }) as const),
  ]);
  const expired = lines.filter((line) => line.includes('"reason":"Expired"'));
  expect(expired).not.toHaveLength(0);
  const lists = passages.filter(({ flight }) => flight.sentAt > 10_000 && flight.path.includes('sendInitialEvents'));
  expect(lists).not.toHaveLength(0);
  expect(lists.filter(({ flight }) => flight.sentAt > 31_000)).toEqual([]);
});

const addresses = '/apis/edge-operator.dev/v1alpha1/namespaces/apps/reservedaddrs';
const times = [12_000, 25_000, 35_000, 45_000];

/** What clients are shown at those times, one for each query, of addresses that are made at 5 s and at 20 s. */
async function shown(act: Act, queries: readonly string[]): Promise<readonly (readonly string[])[]> {
  let told: readonly (readonly string[])[] = [];
  const made = [5_000, 20_000].map((at, nth): Act => ({ at, do: 'apply', object: reservedAddr(`made-${nth}`) }));
  await tell([...made, act], {}, (world) => {
    told = queries.map((query) => asking(world, 'kube', world.kube.token, times, `${addresses}?${query}`));
  });
  return told.map((texts) => texts.map(namesIn));
}

function namesIn(text: string): string {
  // Of a watch no more than what it began with.
  const list = text.split('initial-events-end', 1)[0] ?? '';
  return ['made-0', 'made-1'].filter((name) => list.includes(`"name":"${name}"`)).join();
}

const [one, both] = ['made-0', 'made-0,made-1'];
const late = [one, one, both, both];
const inTime = [one, both, both, both];
const streamed = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

test.each([
  [{}, inTime],
  [{ unversioned: true }, late],
])('lists are answered by a replica that is 10 s behind: %j', async (given, unversioned) => {
  const behind = trouble('stale-lists', 10_000, 30_000, { ageMs: 10_000, ...given });
  const queries = [
    'resourceVersion=0',
    'resourceVersion=1&resourceVersionMatch=NotOlderThan',
    `resourceVersion=1&${streamed}`,
    'limit=10',
    streamed,
  ];
  expect(await shown(behind, queries)).toEqual([late, late, late, inTime, unversioned]);
});

test.each([
  ['at its end', {}, [one, both, both, one]],
  ['after a time', { afterMs: 20_000, bump: 1_000 }, [one, both, one, one]],
])('Kubernetes is restored from a backup, %s', async (_, given, expected) => {
  expect(await shown(trouble('kube-restored', 10_000, 30_000, given), [''])).toEqual([expected]);
});

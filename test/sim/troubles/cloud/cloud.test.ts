import { expect, test } from '@jest/globals';
import { epochMs } from '../../core/process.ts';
import { mainKey } from '../../core/story.ts';
import { asking } from '../client.fixture.ts';
import { type Item, isListing } from '../cloud-list.ts';
import { isInstead, isTo, type Passage, tell, testInTurn, trouble } from '../small-world.fixture.ts';

const isList = ({ flight, seen }: Passage) => isListing(flight) && seen?.status === 200;
const isChanged = (it: Passage) => isList(it) && it.seen?.body !== it.flight.answer?.body;
const says = (text: RegExp, { seen }: Passage) => (seen?.body ?? '').search(text) >= 0;
const isEmpty = (it: Passage) => isChanged(it) && says(/"reserved_addrs":\[\]/, it);

/** Headers tell no less than seconds. */
function isOff({ flight, seen }: Passage): boolean {
  const { date } = seen?.headers ?? {};
  return date !== undefined && Math.abs(Date.parse(date) - epochMs - (flight.arrivedAt ?? 0)) > 1_000;
}

testInTurn([
  ['lagging-lists', {}, isChanged],
  ['odd-items', { how: 'null', field: 'description' }, (it) => isChanged(it) && says(/"description":null/, it)],
  ['odd-items', { how: 'wrong-type' }, (it) => isChanged(it) && says(/:("odd"|\{"text":)/, it)],
  ['odd-items', { how: 'missing', field: 'created_at' }, isChanged],
  ['odd-items', { how: 'extra' }, (it) => isChanged(it) && says(/"added_of_late"/, it)],
  ['endless-pages', { form: 'same' }, (it) => isChanged(it) && says(/"next_page_uri":"/, it)],
  ['endless-pages', { form: 'again' }, (it) => isChanged(it) && says(/\?limit=100&turn=2/, it)],
  ['endless-pages', { form: 'empty' }, (it) => isChanged(it) && says(/before_id=\w+&limit=100&turn=2/, it)],
  ['cloud-clock', { skewMs: -600_000 }, (it) => isTo(it, 'cloud') && isOff(it)],
  ['revoked-key', { status: 401 }, (it) => isInstead(it, 401)],
  ['revoked-key', { status: 403 }, (it) => isInstead(it, 403)],
  ['empty-account', {}, (it) => isEmpty(it) || isInstead(it, 404)],
]);

const lagMs = 20_000;
const times = [15_000, 25_000, 35_000, 45_000, 55_000, 65_000, 85_000];

/** What each list shows of two addresses that are made at 20 s, changed at 30 s, and deleted, one of them, at 40 s. */
async function lists(given: Readonly<Record<string, unknown>>): Promise<readonly string[]> {
  const make = (at: number, name: string) =>
    ({ at, do: 'cloud', name, method: 'POST', path: '/reserved_addrs', body: { description: name } }) as const;
  const path = '/reserved_addrs/{{foreign:old}}';
  let told: readonly string[] = [];
  await tell(
    [
      trouble('lagging-lists', 10_000, 70_000, { lagMs, ...given }),
      make(20_000, 'old'),
      make(21_500, 'gone'),
      { at: 30_000, do: 'cloud', method: 'PATCH', path, body: { description: 'new' } },
      { at: 40_000, do: 'cloud', method: 'DELETE', path: '/reserved_addrs/{{foreign:gone}}' },
    ],
    {},
    (world) => {
      told = asking(world, 'cloud', mainKey, times, '/reserved_addrs');
    },
  );
  return told.map((text) =>
    (JSON.parse(text).reserved_addrs as readonly Item[]).map((item) => item.description).join(),
  );
}

test('what was made is not shown, what was deleted is', async () => {
  expect(await lists({})).toEqual(['', '', '', 'gone,new', 'gone,new', 'new', 'new']);
});

test('contents are as they were, too', async () => {
  expect(await lists({ contents: true })).toEqual(['', '', '', 'gone,old', 'gone,new', 'new', 'new']);
});

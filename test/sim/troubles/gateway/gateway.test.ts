import { isInstead, isTo, type Passage, testInTurn } from '../small-world.fixture.ts';

const header = (name: string, { seen }: Passage) => seen?.headers[name];
const retryAfter = (it: Passage) => header('retry-after', it);
const says = (text: string, { seen }: Passage) => seen?.body.includes(text) === true;
const isHtml = (it: Passage) => header('content-type', it) === 'text/html';
const isHalf = ({ seen }: Passage) => /[^}]$/.test(seen?.body ?? '');
const isMutating = ({ flight }: Passage) => flight.method !== 'GET';

testInTurn([
  ['gateway-404', { form: 'json' }, (it) => isInstead(it, 404) && says('no Route matched', it)],
  ['gateway-404', { form: 'empty' }, (it) => isInstead(it, 404) && it.seen?.body === ''],
  ['gateway-404', { form: 'html' }, (it) => isInstead(it, 404) && isHtml(it)],
  ['gateway-404', { form: 'api-error' }, (it) => isInstead(it, 404) && says('ERR_EDGE_', it)],
  ['gateway-404', { calls: 'mutating' }, (it) => isInstead(it, 404) && isMutating(it)],
  ['gateway-html', {}, (it) => isInstead(it, 200) && isHtml(it)],
  ['gateway-5xx', {}, (it) => isInstead(it, 500, 502, 503, 504)],
  ['gateway-5xx', { status: 503, retryAfter: 5 }, (it) => isInstead(it, 503) && retryAfter(it) === '5'],
  [
    'gateway-4xx',
    { carriedOut: 0 },
    (it) => isInstead(it, 400, 401, 403, 407, 413, 421, 451) && !says('ERR_EDGE_', it),
  ],
  ['gateway-4xx', { carriedOut: 1, status: 403 }, (it) => it.seen?.status === 403 && it.flight.answer !== undefined],
  ['gateway-408', { carriedOut: 0 }, (it) => isInstead(it, 408, 499, 460)],
  ['gateway-408', { carriedOut: 1, status: 408 }, (it) => it.seen?.status === 408 && it.flight.answer !== undefined],
  [
    'mixed-answers',
    {},
    ({ flight, seen }) => flight.answer !== undefined && seen !== undefined && seen !== flight.answer,
  ],
  ['half-a-page', { probability: 1 }, (it) => isTo(it, 'cloud') && it.code === 'ECONNRESET'],
  ['half-a-page', { probability: 1, ends: 'cleanly' }, (it) => isTo(it, 'cloud') && isHalf(it)],
  ['throttled', { retryAfter: 'absent' }, (it) => isInstead(it, 429) && retryAfter(it) === undefined],
  ['throttled', { retryAfter: '7' }, (it) => isInstead(it, 429) && retryAfter(it) === '7'],
  ['throttled', { retryAfter: 'garbage' }, (it) => isInstead(it, 429) && retryAfter(it) === 'soon, I hope'],
  [
    'throttled',
    { retryAfter: 'date', skewMs: -5_000 },
    (it) => isInstead(it, 429) && / 2030 .* GMT$/.test(retryAfter(it) ?? ''),
  ],
]);

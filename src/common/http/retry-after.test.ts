import { expect, test } from '@jest/globals';
import { retryAfterMs } from './retry-after.ts';

const now = Date.parse('2026-01-02T03:04:00Z');

test.each([
  ['seconds', { 'retry-after': '120' }, 120_000],
  ['no wait', { 'retry-after': '0' }, 0],
  ['a date, by our clock', { 'retry-after': 'Fri, 02 Jan 2026 03:04:30 GMT' }, 30_000],
  [
    'a date, by the clock of the one who says it',
    { 'retry-after': 'Fri, 02 Jan 2026 05:04:30 GMT', date: 'Fri, 02 Jan 2026 05:04:20 GMT' },
    10_000,
  ],
  ['a date gone by, by our clock', { 'retry-after': 'Fri, 02 Jan 2026 03:03:00 GMT' }, undefined],
  ['a date gone by', { 'retry-after': 'Fri, 02 Jan 2026 03:03:00 GMT', date: 'Fri, 02 Jan 2026 03:03:01 GMT' }, 0],
  ['the first of two', { 'retry-after': ['5', '50'] }, 5_000],
  ['years, which are cut', { 'retry-after': '99999999999' }, 3_600_000],
  ['a date of another age', { 'retry-after': 'Fri, 02 Jan 2099 03:04:30 GMT' }, 3_600_000],
  ['a fraction', { 'retry-after': '1.5' }, 1_500],
  ['less than nothing', { 'retry-after': '-1' }, undefined],
  ['nothing', {}, undefined],
  ['empty', { 'retry-after': ' ' }, undefined],
  ['words', { 'retry-after': 'soon' }, undefined],
])('%s', (_, headers, expected) => {
  expect(retryAfterMs(headers, now, 3_600_000)).toBe(expected);
});

import { expect, test } from '@jest/globals';
import { RepeatedTexts } from './repeated-texts.ts';

const parsed = (index: number) =>
  JSON.parse(
    `{"id":"ra_${index}","copies":["ra_${index}",null,{"id":"ra_${index}","on":true}],"where":"the same for all"}`,
  );

test('what was shared reads as before', () => {
  const texts = new RepeatedTexts();
  expect(texts.share(parsed(1))).toEqual(parsed(1));
  expect(texts.share(parsed(1))).toEqual(parsed(1));
  expect(texts.share('a text')).toBe('a text');
  expect(texts.share(null)).toBeNull();
});

test('it forgets, and goes on', () => {
  const texts = new RepeatedTexts();
  for (let index = 0; index < 10_000; index++) expect(texts.share(parsed(index)).copies[0]).toBe(`ra_${index}`);
});

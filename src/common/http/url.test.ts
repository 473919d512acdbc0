import { expect, test } from '@jest/globals';
import { canonicalURL } from './url.ts';

test.each([
  ['https://API.example.test:443/v1/', 'https://api.example.test/v1'],
  ['https://api.example.test/./v1//', 'https://api.example.test/v1'],
  ['https://api.example.test/%76%31', 'https://api.example.test/v1'],
  ['https://api.example.test/a%2fb', 'https://api.example.test/a%2Fb'],
  ['no URL at all', 'no URL at all'],
])('%s is %s', (text, canonical) => {
  expect(canonicalURL(text)).toBe(canonical);
});

test('what leads elsewhere is another one', () => {
  const all = [
    'https://a.test/v1',
    'http://a.test/v1',
    'https://a.test/V1',
    'https://a.test/v1/x',
    'https://a.test/a%2Fb',
  ];
  expect(new Set([...all, 'https://a.test/a/b'].map(canonicalURL)).size).toBe(6);
});

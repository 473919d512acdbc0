import { expect, test } from '@jest/globals';
import { baseURLProblem, canonicalURL, parseBaseURL } from './url.ts';

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

test.each(['https://a.test', 'HTTP://a.test:8080/v1/', 'https://[::1]:9/a%2Fb'])('a base URL: %s', (text) => {
  expect(baseURLProblem(text)).toBeUndefined();
  expect(parseBaseURL(text, 'API URL')).toEqual(new URL(text));
});

const scheme = 'must begin with https:// or http://';
const form = 'write https://host[:port][/path], without user, query or fragment';

test.each([
  ['api.example.com', `${scheme}: write https://api.example.com`],
  ['api.example.com:8443/v2', `${scheme}: write https://api.example.com:8443/v2`],
  ['localhost:4040', `${scheme}: write https://localhost:4040`],
  ['ftp://a.test', `${scheme}: ${form}`],
  ['https:a.test', `${scheme}: ${form}`],
  ['', `${scheme}: ${form}`],
  ['two words', `${scheme}: ${form}`],
  ['me:secret@a.test', `${scheme}: ${form}`],
  ['a.test?key=secret', `${scheme}: ${form}`],
  ['https://me:secret@a.test', `is no usable URL: ${form}`],
  ['https://a.test?', `is no usable URL: ${form}`],
  ['https://a.test/#secret', `is no usable URL: ${form}`],
  ['https://a.test\r\n', `is no usable URL: ${form}`],
  ['https://a.test/v 1', `is no usable URL: ${form}`],
  ['https://a.te\tst', `is no usable URL: ${form}`],
  ['https://', `is no usable URL: ${form}`],
])('what to write in place of %j', (text, problem) => {
  expect(baseURLProblem(text)).toBe(problem);
  expect(() => parseBaseURL(text, 'API URL')).toThrow(new TypeError(`the API URL ${problem}`));
  const asHTTP = problem.replace('write https:', 'write http:');
  expect(() => parseBaseURL(text, 'API URL', 'http')).toThrow(new TypeError(`the API URL ${asHTTP}`));
});

import { expect, test } from '@jest/globals';
import { addressOf, apiHosts } from './address.ts';

const own = 'https://api.example.com/v2';

const cases: readonly [why: string, apiURL: string | undefined, admitted: boolean][] = [
  ["none asks for the operator's", undefined, true],
  ['the same host', 'https://api.example.com', true],
  ['in other letters', 'https://API.example.com/other/', true],
  ['its default port, written out', 'https://api.example.com:443', true],
  ['another port is another server', 'https://api.example.com:8443', false],
  ['a host below it', 'https://x.api.example.com', false],
  ['a host that begins alike', 'https://api.example.com.evil.test', false],
  ['the host as a user name', 'https://api.example.com@evil.test', false],
  ['an allowed host', 'https://eu.example.com/v2', true],
  ['the same host by http', 'http://api.example.com', false],
  ['its https port by http', 'http://api.example.com:443', false],
  ['an allowed host by http', 'http://eu.example.com', false],
  ['one that is allowed by http, with its port', 'http://10.0.0.1:8080', true],
  ['one that is allowed by http, by https', 'https://10.0.0.1:8080', false],
  ['one that is allowed by http, on a port that is not', 'http://10.0.0.1', false],
  ['no URL', 'nonsense', false],
];

test.each(cases)('%s: %s', (_why, apiURL, admitted) => {
  const hosts = apiHosts(own, ['https://eu.example.com', 'http://10.0.0.1:8080']);
  const expected = admitted ? { url: apiURL ?? own } : { refusal: expect.stringMatching(/^spec\.apiURL/) };
  expect(addressOf(apiURL, own, hosts)).toEqual(expected);
});

test.each([
  ['api.example.com', 'must begin with https:// or http://: write https://api.example.com'],
  ['ftp://api.example.com', 'must begin with https:// or http://: write https://host'],
  ['https://me:secret@api.example.com', 'is no usable URL: write https://host'],
])('says what to write in place of %s', (apiURL, problem) => {
  const admission = addressOf(apiURL, own, apiHosts(own, []));
  expect(admission).toEqual({ refusal: expect.stringContaining(`spec.apiURL ${problem}`) });
  expect(JSON.stringify(admission)).not.toContain('secret');
});

test('says by which scheme a host is allowed', () => {
  const hosts = apiHosts(own, []);
  const refusal = 'spec.apiURL: the host api.example.com is allowed by https only; no request is sent to it';
  expect(addressOf('http://api.example.com', own, hosts)).toEqual({ refusal });
});

test('an operator that uses http itself does so for others, who may use https', () => {
  const hosts = apiHosts('http://10.0.0.1:8000', []);
  for (const url of ['http://10.0.0.1:8000/v2', 'https://10.0.0.1:8000'])
    expect(addressOf(url, undefined, hosts)).toEqual({ url });
});

test('without an address of its own the operator must be told', () => {
  const hosts = apiHosts(undefined, ['https://eu.example.com']);
  expect(addressOf('https://eu.example.com', undefined, hosts)).toEqual({ url: 'https://eu.example.com' });
  expect(addressOf(undefined, undefined, hosts)).toEqual({ refusal: expect.stringMatching(/--api-url/) });
});

import { expect, test } from '@jest/globals';
import { checked, definitionOf } from './definition.ts';

const set = (...parameters: readonly string[]) =>
  checked(definitionOf('http', '8080', { inspect: true, set: parameters }));

test.each([
  ['metadata', '123'],
  ['metadata', '{"team": "shop"}'],
  ['metadata', 'null'],
  ['subdomain', '42'],
  ['host_header', 'true'],
])('--set %s=%s is that text, whatever it reads as', async (name, value) => {
  expect(await set(`${name}=${value}`)).toMatchObject({ [name]: value });
});

test('a text may be quoted, and other parameters are what they read as', async () => {
  expect(await set('metadata="123"', 'verify_upstream_tls=false')).toMatchObject({
    metadata: '123',
    verify_upstream_tls: false,
  });
});

import { expect, test } from '@jest/globals';
import { isFromHere, isHost } from './hosts.ts';

test.each([
  ['127.0.0.1', 'localhost:8080', true],
  ['::1', '[::1]:8080', true],
  ['::ffff:127.0.0.1', '127.1.2.3', true],
  ['10.0.0.1', 'localhost', false],
  ['::ffff:10.0.0.1', '127.0.0.1', false],
  ['127.0.0.1.evil.test', 'localhost', false],
  ['127.0.0.1', 'evil.test', false],
  ['127.0.0.1', 'localhost.evil.test', false],
  ['127.0.0.1', undefined, false],
])('from %s to Host %s: %s', (address, host, expected) => expect(isFromHere(address, host)).toBe(expected));

test.each([
  ['edge.example.com', true],
  ['edge.example.com:8080', true],
  ['[::1]:8080', true],
  ['', false],
  [undefined, false],
  ['a/b?c', false],
  ['user@a', false],
  ['a?b', false],
  ['a:99999', false],
])('%j is a Host: %s', (header, expected) => expect(isHost(header)).toBe(expected));

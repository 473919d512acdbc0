import { describe, expect, test } from '@jest/globals';
import { differingField, lookOf, looksLike } from './look.ts';

/** By what is on record, and by what the spec asks. */
function areOne(proto: string, asked: string, addr: string): readonly boolean[] {
  const [known, shown] = [
    { proto, addr: asked },
    { proto, addr },
  ];
  return [looksLike(shown, lookOf(known)), differingField(shown, known) === undefined];
}

describe('addresses', () => {
  test.each([
    ['http', '8080', 'localhost:8080'],
    ['http', '8080', 'http://localhost:8080/'],
    ['http', '80', 'localhost:80'],
    ['http', '80', 'http://localhost'],
    ['http', 'localhost:80', 'http://localhost'],
    ['http', 'app', 'http://app:80'],
    ['http', 'app:80', 'http://App/'],
    ['http', '[::1]:80', 'http://[::1]'],
    ['http', 'https://app', 'https://app:443'],
    ['https', 'https://app:443', 'https://APP/'],
    ['tcp', '5432', 'tcp://localhost:5432'],
  ])('of %s that are one: %s, %s', (proto, one, other) => {
    expect([areOne(proto, one, other), areOne(proto, other, one)].flat()).toEqual([true, true, true, true]);
  });

  test.each([
    ['http', '8080', '127.0.0.1:8080', 'where localhost is, the machine says'],
    ['http', 'http://app', 'https://app', 'another port, with TLS'],
    ['http', 'app:443', 'https://app', 'with TLS'],
    ['http', 'app:443', 'app', 'the port of http is another'],
    ['http', 'app:80', 'https://app:80', 'with TLS'],
    ['http', 'https://app:80', 'https://app', 'the port of https is another'],
    ['http', 'app:8080', 'app:80', 'another port'],
    ['http', 'app:80', 'app:80/a', 'a path'],
    ['http', 'app:80', 'other', 'another host'],
    ['http', '::1:80', '::1', 'where its port begins is not certain'],
    ['tcp', 'app:80', 'app', 'tcp has no usual port'],
    ['tls', 'app:443', 'app', 'nor is one documented of tls'],
  ])('of %s that may be two: %s, %s: %s', (proto, one, other) => {
    expect([areOne(proto, one, other), areOne(proto, other, one)].flat()).toEqual([false, false, false, false]);
  });
});

test('a record that an earlier version wrote of an address without a port is understood', () => {
  // What it wrote of http://app.
  expect(looksLike({ proto: 'http', addr: 'http://app:80' }, lookOf({ proto: 'http', addr: 'app' }))).toBe(true);
});

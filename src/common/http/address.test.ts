import type { LookupFunction } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { forbiddenAddress, lookupAs, lookupExcept, refusalOf } from './address.ts';

describe('an address that others chose', () => {
  test.each([
    ...['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1', '::127.0.0.1', '64:ff9b::7f00:1', '2002:7f00:1::'],
    ...['169.254.169.254', '169.254.0.1', '::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '64:ff9b::169.254.169.254'],
    ...['fe80::1', 'febf::1', 'fe80::1%eth0', 'fd00:ec2::254', '100.100.100.200', '168.63.129.16', '0.0.0.0', '::'],
    ...['0.1.2.3', '224.0.0.1', '255.255.255.255', 'ff02::1', 'localhost', '', '1.2.3', '10.0.0.1 '],
  ])('%s is refused', (address) => expect(refusalOf(address)).toMatch(/^is /));

  test.each([
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '8.8.8.8',
    'fd00::1',
    '2001:db8::1',
    '::ffff:10.0.0.1',
  ])('%s may be one of a pod', (address) => expect(refusalOf(address)).toBeUndefined());
});

const ask = (lookup: LookupFunction, options: object) =>
  new Promise((resolve) => lookup('name', options, (error, ...found) => resolve(error ?? found)));

describe('a connection', () => {
  test('goes to the address that was checked, whatever the name says meanwhile', async () => {
    expect(
      await ask(
        lookupAs(() => '10.0.0.1'),
        { all: true },
      ),
    ).toEqual([[{ address: '10.0.0.1', family: 4 }]]);
    expect(
      await ask(
        lookupAs(() => 'fd00::1'),
        {},
      ),
    ).toEqual(['fd00::1', 6]);
  });

  test('is not made where one of the addresses of the name is refused', async () => {
    const found = [
      { address: '10.0.0.1', family: 4 },
      { address: '169.254.169.254', family: 4 },
    ];
    const system: LookupFunction = (_, __, done) => done(null, found);
    const isRefused = (address: string) => refusalOf(address) !== undefined;
    expect(await ask(lookupExcept(system, isRefused), { all: true })).toMatchObject({ code: forbiddenAddress });
    expect(
      await ask(
        lookupExcept(system, () => false),
        { all: true },
      ),
    ).toEqual([found, undefined]);
    const one: LookupFunction = (_, __, done) => done(null, '127.0.0.1', 4);
    expect(await ask(lookupExcept(one, isRefused), {})).toMatchObject({ code: forbiddenAddress });
    const none: LookupFunction = (_, __, done) => done(Object.assign(new Error('none'), { code: 'ENOTFOUND' }), '');
    expect(await ask(lookupExcept(none, isRefused), {})).toMatchObject({ code: 'ENOTFOUND' });
  });
});

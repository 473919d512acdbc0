import { describe, expect, test } from '@jest/globals';
import { HostRange } from './host-range.ts';
import { AllowedHosts } from './hosts.ts';

const hosts = new AllowedHosts(
  ['10.0.8.0/24:4040', '[fd00:8::/64]:4040', '192.168.0.0/16', '0.0.0.0/0:9', '[::/0]:9'],
  'is not allowed',
);

describe('a range of addresses', () => {
  test.each([
    ['http://10.0.8.1:4040', true],
    ['http://10.0.8.255:4040/api', true],
    ['http://[fd00:8::1]:4040', true],
    ['http://192.168.7.7', true],
    ['https://192.168.7.7', true],
    ['http://1.2.3.4:9', true],
    ['http://10.0.9.1:4040', false],
    ['http://10.0.8.1:4041', false],
    ['http://10.0.8.1', false],
    ['http://[fd00:9::1]:4040', false],
    // A name may lead anywhere.
    ['http://10.0.8.1.example.test:4040', false],
    ['http://localhost:9', false],
    // As URLs write what is an address: the loopback, and the metadata of a machine.
    ['http://2130706433:9', false],
    ['http://127.0.0.1:9', false],
    ['http://169.254.169.254:9', false],
    ['http://0xa9fea9fe:9', false],
    ['http://[::ffff:169.254.169.254]:9', false],
    // The same machine by another name.
    ['http://[::ffff:10.0.8.1]:4040', false],
    ['http://[::ffff:10.0.8.1]:9', false],
    ['http://[64:ff9b::10.0.8.1]:9', true],
  ])('%s: %s', (url, isAdmitted) => {
    expect(hosts.admits(url)).toBe(isAdmitted);
    expect(hosts.names(url)).toBe(false);
  });

  test.each([
    '10.0.0.0/33',
    '10.0.0/8',
    'a/8',
    '10.0.0.0/',
    '10.0.0.0/8:99999',
    '10.0.0.0/8/8',
    'fd00::/129',
    '10.0.0.0/-1',
  ])('%s is none', (text) => {
    expect(HostRange.parse(text)).toBeUndefined();
  });
});

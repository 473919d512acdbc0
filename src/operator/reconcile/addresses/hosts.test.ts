import { describe, expect, test } from '@jest/globals';
import { HostRange } from './host-range.ts';
import { AllowedHosts } from './hosts.ts';

const hosts = new AllowedHosts(
  ['10.0.8.0/24:4040', '[fd00:8::/64]:4040', '192.168.0.0/16', '0.0.0.0/0:9', '[::/0]:9'],
  'is not allowed',
);

const refusalOf = (entry: string, url: string) => new AllowedHosts([entry], 'is not listed').admit(url, 'spec.url');

describe('a default port that is written out', () => {
  test.each([
    ['a.test:80', 'http://a.test:80', true],
    ['a.test:80', 'http://a.test', true],
    ['a.test:80', 'https://a.test:80', true],
    ['a.test:80', 'https://a.test', false],
    ['a.test:443', 'https://a.test', true],
    ['a.test:443', 'http://a.test:443', true],
    ['a.test:443', 'http://a.test', false],
    ['*.x:80', 'http://a.x:80', true],
    ['*.x:443', 'https://a.x:443', true],
    ['*.x:443', 'http://a.x', false],
    ['*.x', 'http://a.x:80', true],
    ['10.0.8.0/24:80', 'http://10.0.8.1:80', true],
    ['10.0.8.0/24:443', 'https://10.0.8.1', true],
    ['10.0.8.0/24:443', 'http://10.0.8.1', false],
    ['10.0.8.0/24', 'http://10.0.8.1:443', false],
    ['[fd00:8::1]:80', 'http://[fd00:8::1]', true],
  ])('%s for %s: %s', (entry, url, isAdmitted) => {
    expect(new AllowedHosts([entry], '').admits(url)).toBe(isAdmitted);
  });
});

describe('a host that is listed without the port of the URL', () => {
  test.each([
    ['127.0.0.1', 'http://127.0.0.1:18491', '127.0.0.1', '127.0.0.1:18491'],
    ['*.x', 'https://a.x:8443/api', 'a.x', 'a.x:8443'],
    ['http://a.test', 'http://a.test:81', 'a.test', 'http://a.test:81'],
  ])('%s for %s', (entry, url, host, toList) => {
    const refusal = expect.stringContaining(
      `is not listed (${host} is allowed on its default port alone: list ${toList}); no request`,
    );
    expect(refusalOf(entry, url)).toEqual({ refusal });
  });

  test('nothing is said of ports where the host is not listed on its default one', () => {
    const refusal = 'spec.url: the host a.test:81 is not listed; no request is sent to it';
    expect(refusalOf('a.test:82', 'http://a.test:81')).toEqual({ refusal });
  });
});

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

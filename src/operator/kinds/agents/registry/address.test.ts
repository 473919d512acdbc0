import { describe, expect, test } from '@jest/globals';
import { AllowedHosts } from '../../../reconcile/hosts.ts';
import { addressOf, isAdmitted } from './address.ts';

const hosts = new AllowedHosts(['127.0.0.1:4040', 'agent.example.test'], 'is not in --allowed-agent-hosts');

describe('the address that a spec asks for', () => {
  const cases: readonly [why: string, spec: object, expected: object][] = [
    [
      'a Service is one of the namespace',
      { serviceRef: { name: 'edge', port: 4040 } },
      { url: 'http://edge.team.svc:4040' },
    ],
    ['an allowed host', { url: 'http://127.0.0.1:4040' }, { url: 'http://127.0.0.1:4040' }],
    [
      'the default port of the scheme',
      { url: 'https://agent.example.test/api' },
      { url: 'https://agent.example.test/api' },
    ],
    [
      'another port',
      { url: 'http://127.0.0.1:4041' },
      { refusal: expect.stringMatching(/^spec\.url: .*127\.0\.0\.1:4041/) },
    ],
    ['another host', { url: 'http://evil.test' }, { refusal: expect.stringContaining('--allowed-agent-hosts') }],
    ['a Service by its url', { url: 'http://edge.team.svc:4040' }, { refusal: expect.any(String) }],
    ['no URL', { url: 'http://[' }, { refusal: 'spec.url: "http://[" is no URL' }],
  ];
  test.each(cases)('%s', (_why, spec, expected) => {
    expect(addressOf(spec, 'team', hosts)).toEqual(expected);
  });
});

describe('an address that was used once', () => {
  const cases: readonly [url: string, admitted: boolean][] = [
    ['http://edge.team.svc:4040', true],
    ['http://127.0.0.1:4040', true],
    ['http://edge.other.svc:4040', false],
    ['https://edge.team.svc:4040', false],
    ['http://edge.team.svc.evil.test', false],
    ['http://a.edge.team.svc', false],
    ['http://169.254.169.254', false],
    ['nonsense', false],
  ];
  test.each(cases)('%s: %s', (url, admitted) => {
    expect(isAdmitted(url, 'team', hosts)).toBe(admitted);
  });
});

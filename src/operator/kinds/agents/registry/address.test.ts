import { describe, expect, test } from '@jest/globals';
import { AllowedHosts } from '../../../reconcile/addresses/hosts.ts';
import { addressOf, admitted } from './address.ts';

const hosts = new AllowedHosts(
  ['127.0.0.1:4040', 'agent.example.test', '*.agents.svc:4040'],
  'is not in --allowed-agent-hosts',
);

describe('the address that a spec asks for', () => {
  const cases: readonly [why: string, spec: object, expected: object][] = [
    [
      'a Service is one of the namespace',
      { serviceRef: { name: 'edge', port: 4040 } },
      { url: 'http://edge.team.svc:4040', service: { namespace: 'team', name: 'edge', port: 4040 } },
    ],
    ['a host like an allowed one', { url: 'http://a.agents.svc:4040' }, { url: 'http://a.agents.svc:4040' }],
    [
      'two labels for one',
      { url: 'http://a.b.agents.svc:4040' },
      { refusal: expect.stringMatching(/a\.b\.agents\.svc:4040 is not in --allowed-agent-hosts/) },
    ],
    ['none for one', { url: 'http://agents.svc:4040' }, { refusal: expect.any(String) }],
    ['an empty one for one', { url: 'http://.agents.svc:4040' }, { refusal: expect.any(String) }],
    ['the pattern itself', { url: 'http://*.agents.svc:4040' }, { refusal: expect.any(String) }],
    ['another port of a pattern', { url: 'http://a.agents.svc' }, { refusal: expect.any(String) }],
    ['a name that only ends alike', { url: 'http://a.evilagents.svc:4040' }, { refusal: expect.any(String) }],
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
    ['no URL', { url: 'http://[' }, { refusal: expect.stringMatching(/^spec\.url is no usable URL: write https:/) }],
    [
      'a URL without its scheme',
      { url: 'agent:4040' },
      { refusal: 'spec.url must begin with https:// or http://: write https://agent:4040' },
    ],
  ];
  test.each(cases)('%s', (_why, spec, expected) => {
    expect(addressOf(spec, 'team', hosts)).toEqual(expected);
  });
});

describe('an address that was used once', () => {
  const cases: readonly [url: string, isAdmitted: boolean][] = [
    ['http://edge.agents.svc:4040', true],
    ['http://edge.team.svc:4040', true],
    ['http://127.0.0.1:4040', true],
    ['http://edge.other.svc:4040', false],
    ['https://edge.team.svc:4040', false],
    ['http://edge.team.svc.evil.test', false],
    ['http://a.edge.team.svc', false],
    ['http://169.254.169.254', false],
    ['nonsense', false],
  ];
  test.each(cases)('%s: %s', (url, isAdmitted) => {
    expect(admitted(url, 'team', hosts) !== undefined).toBe(isAdmitted);
  });
});

test('a Service of the namespace is looked at, whoever else allows its name', () => {
  const service = { namespace: 'agents', name: 'edge', port: 4040 };
  expect(admitted('http://edge.agents.svc:4040', 'agents', hosts)).toMatchObject({ service });
  expect(admitted('http://edge.agents.svc:4040', 'team', hosts)).toEqual({ url: 'http://edge.agents.svc:4040' });
  expect(admitted('http://edge.team.svc', 'team', hosts)).toMatchObject({ service: { port: 80 } });
});

import { describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { ApiError } from '../../../../common/http/errors.ts';
import { tlsEdgeTrafficPolicy } from './kind.ts';
import { MalformedPolicyError, parsePolicy } from './policy.ts';
import { type Spec, spec } from './schema.ts';
import { trafficPolicy } from './traffic-policy.ts';

const policy = {
  on_new_key: { passes: ['through'] },
  inbound: [
    { name: 'log', expressions: [], actions: [{ type: 'log', config: { metadata: { a: 1 } } }] },
    { name: 'deny', expressions: ["conn.ClientIP == '1.1.1.1'"], actions: [{ type: 'deny' }, { type: 'new', x: 1 }] },
  ],
};
const inline = (fields: object = {}): Spec => spec.parse({ edgeID: 'edgtls_1', policy, ...fields });
const nothingToRead = async () => Promise.reject(new Error('nothing was to be read'));
const source = 'ConfigMap edge, key p,';

describe('a policy from a text', () => {
  test.each([
    ['JSON', JSON.stringify(policy, null, 2)],
    ['JSON with tabs', JSON.stringify(policy, null, '\t')],
    ['YAML', stringify(policy)],
  ])('as %s, with every key', (_how, text) => expect(parsePolicy(text, source)).toEqual(policy));

  const rule = { name: 'n', expressions: ['e'], actions: [{ type: 'deny' }] };
  const broken = (last: object) => JSON.stringify({ inbound: [rule, rule, { ...rule, ...last }] });
  const cases: readonly [why: string, text: string, message: RegExp][] = [
    ['an action without type', broken({ actions: [{}] }), / policy: inbound\[2\]\.actions\[0\]\.type: /],
    [
      'a config that is no object',
      broken({ actions: [{ type: 'log', config: 'x' }] }),
      / inbound\[2\]\.actions\[0\]\.config: /,
    ],
    ['a rule without name', broken({ name: undefined }), / inbound\[2\]\.name: /],
    ['expressions that are no list', broken({ expressions: 'x' }), / inbound\[2\]\.expressions: /],
    ['an expression that is no text', broken({ expressions: ['x', 1] }), / inbound\[2\]\.expressions\[1\]: /],
    ['no rules', '{}', / inbound: /],
    ['a list', '[]', /malformed traffic policy: must be an object$/],
    ['rules twice, of which one would be lost', '{"inbound":[],\n"inbound":[]}', /Map keys must be unique at line 2/],
    ['nothing', '', /malformed traffic policy: must be an object$/],
    ['no YAML', 'a: [1\nsecret: 2', /holds neither JSON nor YAML: .* at line \d+, column \d+$/],
    ['an alias to itself', 'inbound: &a [*a]', /holds neither JSON nor YAML: .*circular/],
    [
      'one that nests too deep',
      `{"inbound":[],"x":${'['.repeat(4_000)}${']'.repeat(4_000)}}`,
      / policy: nests deeper than 100 levels$/,
    ],
    [
      'one of YAML that nests too deep to be read',
      `inbound: []\nx: ${'['.repeat(4_000)}${']'.repeat(4_000)}`,
      /holds neither JSON nor YAML: it nests too deeply$/,
    ],
    [
      'one that is too long',
      JSON.stringify({ inbound: [], x: 'y'.repeat(70_000) }),
      / policy: is \d+ bytes long; at most 65536/,
    ],
    ['a whole number beyond 2^53', '{"inbound":[],"x":[9007199254740993]}', / policy: holds a number with more digits/],
    ['a number beyond all', '{"inbound":[],"x":{"y":-1e400}}', / policy: holds a number with more digits/],
    ['one of YAML that is none', 'inbound: []\nx: .nan', /holds neither JSON nor YAML: NaN is no number of JSON$/],
    [
      'a merge, which would be a key of that name',
      'inbound: []\na: &a {b: 1}\nc: {<<: *a}',
      /holds neither JSON nor YAML: merge keys \(<<\) are not taken$/,
    ],
    ['several documents', 'inbound: []\n---\ninbound: []', /holds neither JSON nor YAML/],
  ];
  test.each(cases)('%s is refused with its source and path, on one line', (_why, text, message) => {
    const parse = () => parsePolicy(text, source);
    expect(parse).toThrow(MalformedPolicyError);
    expect(parse).toThrow(message);
    expect(parse).toThrow(/^ConfigMap edge, key p, holds .*$/);
  });

  test('keeps numbers that are what they say', () => {
    const text = '{"inbound":[],"x":[9007199254740991,-0.1,1e-7,1.50]}';
    expect(parsePolicy(text, source)).toEqual({ inbound: [], x: [9_007_199_254_740_991, -0.1, 1e-7, 1.5] });
  });

  test('is a refusal for certain', () => {
    const error = new MalformedPolicyError('m');
    expect(error instanceof ApiError).toBe(true);
    expect(error).toMatchObject({ reason: 'Rejected', definite: true });
  });
});

describe('what is sent', () => {
  test('compact JSON that means the policy', async () => {
    const body = await trafficPolicy.desired(inline(), nothingToRead);
    expect(body?.enabled).toBe(true);
    expect(JSON.parse(body?.value ?? '')).toEqual(policy);
    expect(body?.value).not.toMatch(/[\n:,] /);
  });

  test('of a ConfigMap: compact JSON of its YAML', async () => {
    const from = { policy: undefined, policyFrom: { configMapKeyRef: { name: 'edge', key: 'p' } } };
    const body = await trafficPolicy.desired(inline({ ...from, enabled: false }), async (reference) => {
      expect(reference).toEqual({ kind: 'ConfigMap', name: 'edge', key: 'p' });
      return stringify(policy);
    });
    expect(body).toEqual({ enabled: false, value: JSON.stringify(policy) });
  });
});

describe('diff', () => {
  const value = JSON.stringify(policy);
  const [log, deny] = policy.inbound;
  const { inbound, on_new_key } = policy;
  test.each([
    ['as asked', value, true, []],
    ['keys in another order, spaced', JSON.stringify({ inbound, on_new_key }, null, 2), true, []],
    ['rules in another order', JSON.stringify({ on_new_key, inbound: [deny, log] }), true, ['policy']],
    ['a rule less', JSON.stringify({ on_new_key, inbound: [log] }), true, ['policy']],
    ['no JSON at all', 'not json', true, ['policy']],
    ['switched off', value, false, ['enabled']],
    ['both', '{}', false, ['enabled', 'policy']],
  ])('%s', (_why, found, enabled, fields) => {
    expect(trafficPolicy.diff({ enabled: true, value }, { enabled, value: found })).toEqual(fields);
  });
});

describe('status', () => {
  const shown = (value: string) =>
    tlsEdgeTrafficPolicy.contract.status(
      new Map([['trafficPolicy', { ...trafficPolicy.status({ enabled: true, value }), applied: true }]]),
    );

  test('rules counted, and a hash that does not depend on the order of keys', () => {
    const { inbound, on_new_key } = policy;
    const status = shown(JSON.stringify(policy));
    expect(status).toEqual({ ruleCount: 2, appliedPolicyHash: expect.stringMatching(/^[0-9a-f]{16}$/) });
    expect(shown(JSON.stringify({ inbound, on_new_key }))).toEqual(status);
    expect(shown(JSON.stringify({ inbound: [] }))).not.toEqual(status);
  });

  test('of what is no policy', () => expect(shown('nonsense')).not.toHaveProperty('ruleCount'));
  test('of nothing', () => expect(tlsEdgeTrafficPolicy.contract.status(new Map())).toEqual({}));
});

describe('the schema wants exactly one source', () => {
  const policyFrom = { configMapKeyRef: { name: 'edge', key: 'p' } };
  test.each([
    ['a policy', { policy }, true],
    ['a ConfigMap', { policyFrom }, true],
    ['both', { policy, policyFrom }, false],
    ['none', {}, false],
    ['a ConfigMap not named', { policyFrom: {} }, false],
  ])('%s', (_why, fields, valid) => {
    expect(spec.safeParse({ edgeID: 'edgtls_1', ...fields }).success).toBe(valid);
  });
});

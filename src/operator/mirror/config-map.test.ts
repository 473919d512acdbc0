import { hash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { Endpoint } from '../cloud/schemas.ts';
import {
  type ConfigMap,
  endpointConfigMap,
  endpointJSON,
  endpointName,
  isEndpointName,
  isWhole,
  mirrorLabels,
  originOf,
  summary,
} from './config-map.ts';
import { decide } from './config-map-writer.ts';

const required: Endpoint = {
  id: 'ep_2f5xDeYhHhzhEEDKNGZ4yxgdfNK',
  region: 'us',
  created_at: '2026-01-02T03:04:05Z',
  updated_at: '2026-01-02T03:04:06Z',
  public_url: 'https://a.example.test',
  proto: 'https',
  hostport: 'a.example.test:443',
  type: 'edge',
};
const ref = (id: string) => ({ id, uri: `https://api.example.test/${id}` });
const optional = {
  metadata: '{"team":"a"}',
  domain: ref('rd_1'),
  tcp_addr: ref('ra_1'),
  tunnel: ref('tn_1'),
  edge: ref('edghts_1'),
};
const owner = { apiVersion: 'edge-operator.dev/v1alpha1', kind: 'CloudAccount', name: 'a', uid: 'u' };
const named = (name: string, plain = name) => ({ installation: { name, plain } });
const maker = { ...named('blue'), account: 'default' };
const mapped = (endpoint: Endpoint, account = 'default') =>
  endpointConfigMap(endpointJSON(endpoint), { ...maker, account }, 'edge-system');

const dns1123 = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

describe('name', () => {
  test.each([
    ['as the service gives it', 'ep_2f5xDeYhHhzhEEDKNGZ4yxgdfNK'],
    ['longer than a name', `ep_${'Ab0'.repeat(200)}`],
    ['punctuation at the cut', `ep_${'a'.repeat(228)}${'_'.repeat(50)}b`],
    ['no letter or digit at all', '___'],
    ['empty', ''],
    ['beyond ASCII', 'ep_Ünïcödé/..%2f\u0130'],
  ])('%s is valid', (_reason, id) => {
    const name = endpointName(id);
    expect(name).toMatch(dns1123);
    expect(name.length).toBeLessThanOrEqual(253);
    expect(name.startsWith('endpoint-')).toBe(true);
    expect(isEndpointName(name)).toBe(true);
  });

  test('shows the id, and keeps apart what differs in case or punctuation only', () => {
    const ids = ['ep_aBc', 'ep_Abc', 'ep_abc', 'ep-abc', 'ep_abc_', `ep_${'a'.repeat(300)}`, `ep_${'a'.repeat(301)}`];
    expect(new Set(ids.map(endpointName)).size).toBe(ids.length);
    expect(endpointName('ep_aBc')).toMatch(/^endpoint-ep-abc-[0-9a-f]{10}$/);
    expect(endpointName('ep_aBc')).toBe(endpointName('ep_aBc'));
  });

  test.each(['endpoint-abc', 'my-copy', 'copy-of-endpoint-ep-a-0123456789', 'endpoint-ep-a-0123456789-old'])(
    '%s is none of the mirror',
    (name) => expect(isEndpointName(name)).toBe(false),
  );
});

describe('data', () => {
  test('has every field of the reference', () => {
    const { data } = mapped({ ...required, ...optional });
    expect(data).toEqual({
      ...required,
      metadata: '{"team":"a"}',
      'domain.id': 'rd_1',
      'domain.uri': 'https://api.example.test/rd_1',
      'tcp_addr.id': 'ra_1',
      'tcp_addr.uri': 'https://api.example.test/ra_1',
      'tunnel.id': 'tn_1',
      'tunnel.uri': 'https://api.example.test/tn_1',
      'edge.id': 'edghts_1',
      'edge.uri': 'https://api.example.test/edghts_1',
      'endpoint.json': JSON.stringify({ ...required, ...optional }),
    });
    for (const key of Object.keys(data ?? {})) expect(key).toMatch(/^[-._a-zA-Z0-9]+$/);
  });

  test('lacks what does not apply, also where it is null', () => {
    const none = { metadata: null, domain: null, tcp_addr: undefined, tunnel: null, edge: null };
    expect(mapped({ ...required, ...none }).data).toEqual({ ...required, 'endpoint.json': JSON.stringify(required) });
  });

  test('an empty string is there', () => expect(mapped({ ...required, metadata: '' }).data?.metadata).toBe(''));
});

describe('labels', () => {
  test('say whose it is and what can be selected by', () => {
    expect(mapped(required, 'team-a/prod').metadata).toEqual({
      name: endpointName(required.id),
      namespace: 'edge-system',
      annotations: { 'edge-operator.dev/mirrored-by': expect.stringMatching(/^[\w-]{22}$/) },
      labels: {
        'app.kubernetes.io/managed-by': 'edge-operator',
        'edge-operator.dev/mirror': 'endpoints',
        'edge-operator.dev/account': 'team-a.prod',
        'edge-operator.dev/proto': 'https',
        'edge-operator.dev/type': 'edge',
        'edge-operator.dev/region': 'us',
      },
    });
  });

  test.each(['', 'us', 'a b', '-x-', '_._', `${'x'.repeat(62)}/y`, 'x'.repeat(64), 'Zürich'])(
    'a region "%s" is safe',
    (region) => {
      const value = mapped({ ...required, region }).metadata.labels?.['edge-operator.dev/region'] ?? 'none';
      expect(value).toMatch(labelValue);
      expect(value.length).toBeLessThanOrEqual(63);
    },
  );

  test('accounts that have to be cut stay apart', () => {
    const values = ['a', 'b'].map((last) => mirrorLabels(`ns/${'x'.repeat(100)}${last}`)['edge-operator.dev/account']);
    expect(values[0]).not.toBe(values[1]);
  });
});

describe('who made it', () => {
  const made = mapped(required);
  const as = (metadata: object) => ({ ...made, metadata: { ...made.metadata, ...metadata } });
  const unmarked = as({ annotations: {} });

  test('is told by a mark, which holds for one name, namespace, account and installation', () => {
    expect(originOf(made, maker)).toBe('ours');
    expect(originOf(made, { ...maker, ...named('green') })).toBe('of another');
    expect(originOf(made, { ...maker, account: 'team/a' })).toBe('of another');
    expect(originOf(as({ name: endpointName('ep_2') }), maker)).toBe('of another');
    expect(originOf(as({ namespace: 'elsewhere' }), maker)).toBe('of another');
    expect(originOf(unmarked, maker)).toBe('unmarked');
  });

  test.each([
    ['could not be read before', named('blue'), named('blue-0a1b2c3d', 'blue')],
    ['cannot be read any more', named('blue-0a1b2c3d', 'blue'), named('blue')],
    [
      'cannot be read any more, and the namespace itself ends so',
      named('preview-1a2b3c4d-0a1b2c3d', 'preview-1a2b3c4d'),
      named('preview-1a2b3c4d'),
    ],
  ])('is the same installation where the uid of its namespace %s', (_when, before, now) => {
    const left = endpointConfigMap(endpointJSON(required), { ...maker, ...before }, 'edge-system');
    expect(originOf(left, { ...maker, ...now })).toBe('ours');
  });

  test.each([
    ['that somebody named so', named('prod-20250101'), named('prod-20260101')],
    ['that somebody named so, or without', named('prod-20250101'), named('prod')],
    [
      'of namespaces that end so',
      named('preview-1a2b3c4d-0a1b2c3d', 'preview-1a2b3c4d'),
      named('preview-5e6f7a8b-4d5e6f7a', 'preview-5e6f7a8b'),
    ],
  ])('is another of two installations whose names end as with a uid, %s', (_which, blue, green) => {
    const [a, b] = [blue, green].map((installation) => ({ ...maker, ...installation }));
    if (a === undefined || b === undefined) throw new Error('there are two');
    expect(originOf(endpointConfigMap(endpointJSON(required), a, 'edge-system'), b)).toBe('of another');
    expect(originOf(endpointConfigMap(endpointJSON(required), b, 'edge-system'), a)).toBe('of another');
  });

  test('of an earlier version, whose marks have that uid', () => {
    const mark = hash(
      'sha256',
      JSON.stringify(['blue-0a1b2c3d', 'default', 'edge-system', made.metadata.name]),
      'base64url',
    );
    const earlier = as({ annotations: { 'edge-operator.dev/mirrored-by': mark.slice(0, 22) } });
    expect(originOf(earlier, { ...maker, ...named('blue-0a1b2c3d', 'blue') })).toBe('ours');
    expect(originOf(earlier, { ...maker, ...named('blue-89abcdef', 'blue') })).toBe('of another');
  });

  test.each([
    ['as an earlier version left it', unmarked, true],
    ['edited', { ...unmarked, data: { ...made.data, region: 'eu' } }, false],
    ['with more in it', { ...unmarked, data: { ...made.data, more: '' } }, false],
    ['with binary data', { ...unmarked, binaryData: { more: '' } }, false],
    ['under another name', as({ annotations: {}, name: endpointName('ep_2') }), false],
    ["somebody's, with our labels and a like name", { ...unmarked, data: { mine: 'yes' } }, false],
    ['of no JSON', { ...unmarked, data: { 'endpoint.json': '{' } }, false],
    ['of other JSON', { ...unmarked, data: { 'endpoint.json': 'null' } }, false],
    ['empty', { metadata: unmarked.metadata, apiVersion: 'v1', kind: 'ConfigMap' }, false],
  ])('is a mirror, without a mark, where it is whole: %s', (_, configMap, whole) => {
    expect(isWhole(configMap)).toBe(whole);
    expect(isWhole(summary(configMap))).toBe(whole);
  });
});

describe('decide', () => {
  const desired = mapped(required);
  const { metadata, data } = desired;
  const deletionTimestamp = '2026-01-02T03:04:05Z';
  const labels = { ...metadata.labels, extra: 'label' };
  const owned = (...uids: readonly string[]): ConfigMap => ({
    ...desired,
    metadata: { ...metadata, ownerReferences: uids.map((uid) => ({ ...owner, uid })) },
  });
  test.each([
    ['an endpoint without a ConfigMap', desired, undefined, 'create'],
    ['as it should be', desired, desired, 'none'],
    ['with labels and annotations of other tools', desired, { ...desired, metadata: { ...metadata, labels } }, 'none'],
    [
      'fields in another order',
      desired,
      { ...desired, data: Object.fromEntries(Object.entries(data ?? {}).reverse()) },
      'none',
    ],
    ['another value', desired, { ...desired, data: { ...data, region: 'eu' } }, 'update'],
    ['one field more', desired, { ...desired, data: { ...data, more: '' } }, 'update'],
    ['one field less', desired, { ...desired, data: { id: required.id } }, 'update'],
    ['no data', desired, { ...desired, data: {} }, 'update'],
    ['binary data', desired, { ...desired, binaryData: { x: 'AA==' } }, 'update'],
    [
      'a label changed',
      desired,
      { ...desired, metadata: { ...metadata, labels: { ...labels, 'edge-operator.dev/proto': 'tcp' } } },
      'update',
    ],
    ['without its owner', owned('u'), desired, 'update'],
    ['of an account that was made anew', owned('u'), owned('before'), 'update'],
    ['with an owner besides', owned('u'), owned('other', 'u'), 'none'],
    ['with an owner that none has to have', desired, owned('other'), 'none'],
    ['without labels', desired, { ...desired, metadata: { name: metadata.name } }, 'update'],
    ['made immutable, which no update undoes', desired, { ...desired, immutable: true }, 'delete'],
    ['on its way out', desired, { ...desired, data: {}, metadata: { ...metadata, deletionTimestamp } }, 'none'],
    ['no endpoint any more', undefined, desired, 'delete'],
    ['no endpoint, and going already', undefined, { ...desired, metadata: { ...metadata, deletionTimestamp } }, 'none'],
    ['a copy under another name', undefined, { ...desired, metadata: { ...metadata, name: 'my-copy' } }, 'none'],
    ['neither', undefined, undefined, 'none'],
  ])('%s', (_reason, wanted, actual, action) => {
    expect(decide(wanted, actual)).toBe(action);
    expect(decide(wanted, actual && summary(actual))).toBe(action);
  });
});

test('a summary keeps no content', () => {
  const kept = JSON.stringify(summary(mapped({ ...required, ...optional })));
  expect(kept).not.toContain('example.test');
  expect(kept.length).toBeLessThan(500);
});

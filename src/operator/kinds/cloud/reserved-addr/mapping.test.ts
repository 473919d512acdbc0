import { describe, expect, test } from '@jest/globals';
import type { ReservedAddr } from '../../../cloud/schemas.ts';
import { contentOf, diff, toCreate, toStatus, toUpdate } from './mapping.ts';
import { type Spec, spec } from './schema.ts';

const addr: ReservedAddr = {
  id: 'ra_1',
  uri: 'https://api.example.com/reserved_addrs/ra_1',
  created_at: '2026-01-02T03:04:05Z',
  description: 'a database',
  addr: '1.tcp.eu.example.com:20001',
  region: 'eu',
  endpoint_configuration: null,
};
const wanted = (fields: object = {}): Spec => spec.parse({ description: 'a database', region: 'eu', ...fields });

describe('diff', () => {
  const cases: readonly [why: string, spec: Spec, found: ReservedAddr, fields: readonly string[]][] = [
    ['equal', wanted(), addr, []],
    ['what the user left out is not compared', spec.parse({ region: 'eu' }), { ...addr, metadata: 'theirs' }, []],
    ['absent metadata is empty metadata', wanted({ metadata: '' }), addr, []],
    ['metadata that was taken away', wanted({ metadata: 'm' }), addr, ['metadata']],
    ['description', wanted({ description: 'b' }), addr, ['description']],
    ['a configuration to attach', wanted({ endpointConfigurationID: 'ec_1' }), addr, ['endpointConfigurationID']],
    [
      'a configuration attached',
      wanted({ endpointConfigurationID: 'ec_1' }),
      { ...addr, endpoint_configuration: { id: 'ec_1', uri: 'u' } },
      [],
    ],
    [
      'a configuration to detach',
      wanted({ endpointConfigurationID: '' }),
      { ...addr, endpoint_configuration: { id: 'ec_1', uri: 'u' } },
      ['endpointConfigurationID'],
    ],
    ['none to detach', wanted({ endpointConfigurationID: '' }), addr, []],
    ['the default region counts as set', spec.parse({}), addr, ['region']],
  ];
  test.each(cases)('%s', (_why, asked, found, fields) => {
    expect(diff(asked, found).map(({ field }) => field)).toEqual(fields);
  });

  test('a region says what it is and that it stays', () => {
    expect(diff(spec.parse({}), addr)).toEqual([{ field: 'region', immutable: 'eu' }]);
  });
});

test('rule 1: a create without region asks for us', () => expect(toCreate(spec.parse({})).region).toBe('us'));
test('rule 2: a create does not name the endpoint configuration, and its content is found again', () => {
  const asked = wanted({ endpointConfigurationID: 'ec_1' });
  expect(toCreate(asked)).not.toHaveProperty('endpoint_configuration_id');
  expect(contentOf(asked)).toEqual(contentOf(addr));
});
test('an update holds only the fields named', () => {
  const body = toUpdate(wanted({ metadata: 'm', endpointConfigurationID: 'ec_1' }), new Set(['metadata']));
  expect(JSON.parse(JSON.stringify(body))).toEqual({ metadata: 'm' });
});
test('an update detaches the configuration by an empty id', () => {
  const body = toUpdate(wanted({ endpointConfigurationID: '' }), new Set(['endpointConfigurationID']));
  expect(JSON.parse(JSON.stringify(body))).toEqual({ endpoint_configuration_id: '' });
});
test('status: host and port of the address', () => {
  expect(toStatus(addr)).toMatchObject({ host: '1.tcp.eu.example.com', port: 20_001, createdAt: addr.created_at });
});

test.each(['1.tcp.example.com', '1.tcp.example.com:99999', '1.tcp.example.com:-1', ':1'])(
  'status: an address that is none (%s) is shown as it is, and keeps nobody from writing the status',
  (text) => {
    const { addr: shown, host, port } = toStatus({ ...addr, addr: text });
    expect({ shown, host, port }).toEqual({ shown: text });
  },
);

describe('metadata: at most 4096 bytes, not characters', () => {
  test.each([
    ['4096 of one byte', 'x'.repeat(4096), true],
    ['4097 of one byte', 'x'.repeat(4097), false],
    ['2048 of two bytes', 'ü'.repeat(2048), true],
    ['2049 of two bytes', 'ü'.repeat(2049), false],
    ['1024 of four bytes', '😀'.repeat(1024), true],
    ['1025 of four bytes', '😀'.repeat(1025), false],
  ])('%s', (_what, metadata, valid) => expect(spec.safeParse({ metadata }).success).toBe(valid));
});

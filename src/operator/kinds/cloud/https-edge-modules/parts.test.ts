import { describe, expect, test } from '@jest/globals';
import { httpsEdgeModules } from './kind.ts';
import { mutualTLS } from './mutual-tls.ts';
import { type Spec, spec } from './schema.ts';
import { tlsTermination } from './tls-termination.ts';

const wanted = (parts: object): Spec => spec.parse({ edgeID: 'edghts_1', ...parts });
const nothingToRead = async () => Promise.reject(new Error('nothing was to be read'));
const sent = (body: unknown): unknown => JSON.parse(JSON.stringify(body));

test.each(httpsEdgeModules.contract.parts)('$name asks for nothing when the spec does not name it', async (part) => {
  expect(await part.desired(wanted({}), nothingToRead)).toBeUndefined();
});

describe('mutualTLS', () => {
  const refs = (...names: readonly string[]) => names.map((id) => ({ id, uri: `https://api/certs/${id}` }));

  test('sends ids', async () => {
    const body = await mutualTLS.desired(wanted({ mutualTLS: { certificateAuthorityIDs: ['ca_1'] } }), nothingToRead);
    expect(body).toEqual({ enabled: true, certificate_authority_ids: ['ca_1'] });
  });

  test.each([
    ['as asked', ['ca_1', 'ca_2'], refs('ca_1', 'ca_2'), true, []],
    ['in another order', ['ca_1', 'ca_2'], refs('ca_2', 'ca_1'), true, []],
    ['one too few', ['ca_1', 'ca_2'], refs('ca_1'), true, ['certificateAuthorityIDs']],
    ['left out', undefined, refs('ca_1'), true, []],
    ['switched off', ['ca_1'], refs('ca_1'), false, ['enabled']],
  ])('diff: %s', (_why, certificate_authority_ids, certificate_authorities, enabled, fields) => {
    const body = { enabled: true, certificate_authority_ids };
    expect(mutualTLS.diff(body, { enabled, certificate_authorities })).toEqual(fields);
  });

  test('keeps authorities that are left out, unless they left the spec', () => {
    const found = { enabled: false, certificate_authorities: refs('ca_1', 'ca_2') };
    const kept = { enabled: true, certificate_authority_ids: ['ca_1', 'ca_2'] };
    expect(mutualTLS.filled?.({ enabled: true }, found, [])).toEqual(kept);
    expect(mutualTLS.filled?.({ enabled: true }, found, ['certificateAuthorityIDs'])).toEqual({ enabled: true });
  });
});

describe('tlsTermination', () => {
  test.each([
    ['with a version', { minVersion: '1.3' }, { enabled: true, min_version: '1.3' }],
    ['without one the service picks', { enabled: false }, { enabled: false }],
  ])('sends %s', async (_why, part, body) => {
    expect(sent(await tlsTermination.desired(wanted({ tlsTermination: part }), nothingToRead))).toEqual(body);
  });

  const shown = { enabled: true, terminate_at: 'edge', min_version: '1.2' };
  const upstream = { enabled: true, terminate_at: 'upstream', min_version: null };
  test.each([
    ['as asked', '1.2', shown, []],
    ['another version', '1.3', shown, ['minVersion']],
    ['what the service picked', undefined, shown, []],
    ['passed through', undefined, upstream, []],
    ['a version where TLS is passed through', '1.2', upstream, ['minVersion']],
    ['switched off', '1.2', { ...shown, enabled: false }, ['enabled']],
  ])('diff: %s', (_why, min_version, found, fields) => {
    expect(tlsTermination.diff({ enabled: true, min_version }, found)).toEqual(fields);
  });

  test.each([
    ['a version on an edge that terminates upstream', '1.2', upstream, true],
    ['no version there', undefined, upstream, false],
    ['a version on an edge that terminates itself', '1.2', shown, false],
    ['a version while nothing is known of the edge', '1.2', undefined, false],
  ])('refusal: %s', (_why, min_version, found, refused) => {
    const reason = tlsTermination.refusal?.({ enabled: true, min_version }, found);
    expect(reason?.includes('remove minVersion') ?? false).toBe(refused);
  });

  test.each([
    ['what somebody chose', undefined, shown, [], '1.2'],
    ['what is asked for', '1.3', shown, [], '1.3'],
    ['nothing of what left the spec', undefined, shown, ['minVersion'], undefined],
    ['nothing where TLS is passed through', undefined, upstream, [], undefined],
  ])('keeps %s', (_why, min_version, found, leftOut, kept) => {
    const filled = tlsTermination.filled?.({ enabled: false, min_version }, found, leftOut);
    expect(filled).toEqual({ enabled: false, min_version: kept });
  });

  test('status: where TLS ends', () => expect(tlsTermination.status(upstream)).toEqual({ terminateAt: 'upstream' }));
});

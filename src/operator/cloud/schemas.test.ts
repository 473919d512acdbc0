import { expect, test } from '@jest/globals';
import * as schemas from './schemas.ts';

const ref = { id: 'ec_1', uri: 'u' };
const bot = { id: 'bot_1', uri: 'u', name: 'n', active: true, created_at: 'x' };
const addr = {
  ...{ id: 'ra_1', uri: 'u', created_at: 'x', description: '', addr: 'h:1', region: 'us' },
  endpoint_configuration: ref,
};
const saml = {
  ...{ enabled: true, options_passthrough: true, cookie_prefix: '', inactivity_timeout: 0, maximum_duration: 0 },
  ...{ idp_metadata: '', force_authn: true, allow_idp_initiated: true, authorized_groups: [], nameid_format: '' },
  ...{ idp_metadata_url: '', entity_id: '', assertion_consumer_service_url: '', single_logout_url: '' },
  ...{ request_signing_certificate_pem: '', metadata_url: '' },
};
const samlOutputs = [
  ...['idp_metadata_url', 'entity_id', 'assertion_consumer_service_url', 'single_logout_url'],
  ...['request_signing_certificate_pem', 'metadata_url'],
];
const termination = { enabled: true, terminate_at: 'edge', min_version: null };

const cases = [
  ['a reserved address', schemas.reservedAddrSchema, addr, ['id', 'uri', 'created_at', 'addr', 'region']],
  ['a bot user', schemas.botUserSchema, bot, ['id', 'uri', 'created_at']],
  ['a SAML module', schemas.samlSchema, saml, samlOutputs],
  ['a TLS termination module', schemas.tlsTerminationSchema, termination, ['terminate_at']],
  ['a reference', schemas.refSchema, ref, ['id', 'uri']],
] as const;

test.each(cases)('of %s no text is taken that would make a status long', (_, schema, answer, shown) => {
  expect(schema.safeParse(answer)).toMatchObject({ success: true });
  for (const field of shown) {
    const { error } = schema.safeParse({ ...answer, [field]: 'x'.repeat(16 * 1_024 + 1) });
    expect([field, error?.issues[0]]).toMatchObject([field, { code: 'too_big', path: [field] }]);
  }
});

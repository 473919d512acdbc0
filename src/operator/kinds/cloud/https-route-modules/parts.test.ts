import { describe, expect, test } from '@jest/globals';
import type { SAML, SAMLReplace } from '../../../cloud/schemas.ts';
import type { Reference } from '../../../reconcile/referents/references.ts';
import { compression } from './compression.ts';
import { ipRestriction } from './ip-restriction.ts';
import { httpsRouteModules } from './kind.ts';
import { saml } from './saml.ts';
import { type Spec, spec } from './schema.ts';
import { webhookVerification } from './webhook-verification.ts';

const ids = { edgeID: 'edghts_1', routeID: 'edghtsrt_1' };
const wanted = (parts: object): Spec => spec.parse({ ...ids, ...parts });
/** Answers every reference with what it names. */
const read = async ({ kind, name, key }: Reference) => `${kind} ${name}/${key}`;
const nothingToRead = async () => Promise.reject(new Error('nothing was to be read'));
/** As it goes over the wire. */
const sent = (body: unknown): unknown => JSON.parse(JSON.stringify(body));

const everything = {
  enabled: false,
  optionsPassthrough: true,
  cookiePrefix: 'c.',
  inactivityTimeoutSeconds: 0,
  maximumDurationSeconds: 4_294_967_295,
  idpMetadata: '<a/>',
  forceAuthn: true,
  allowIdpInitiated: false,
  authorizedGroups: ['g1', 'g2'],
  nameidFormat: 'f',
};
const asBody = {
  enabled: false,
  options_passthrough: true,
  cookie_prefix: 'c.',
  inactivity_timeout: 0,
  maximum_duration: 4_294_967_295,
  idp_metadata: '<a/>',
  force_authn: true,
  allow_idp_initiated: false,
  authorized_groups: ['g1', 'g2'],
  nameid_format: 'f',
};
const found: SAML = {
  ...asBody,
  idp_metadata_url: '',
  entity_id: 'https://sp/metadata',
  assertion_consumer_service_url: 'https://sp/acs',
  single_logout_url: 'https://sp/slo',
  request_signing_certificate_pem: 'PEM',
  metadata_url: 'https://sp/metadata',
};

describe('a part that the spec does not name', () => {
  test.each(httpsRouteModules.contract.parts)('$name asks for nothing and reads nothing', async (part) => {
    expect(await part.desired(wanted({}), nothingToRead)).toBeUndefined();
  });
});

test('every part has a condition of its own, after its name', () => {
  expect(httpsRouteModules.contract.parts.map(({ name, condition }) => [name, condition])).toEqual([
    ['saml', 'SamlReady'],
    ['ipRestriction', 'IpRestrictionReady'],
    ['webhookVerification', 'WebhookVerificationReady'],
    ['compression', 'CompressionReady'],
  ]);
});

test('the parent is named by both ids', () => {
  expect(httpsRouteModules.contract.parent(wanted({}))).toBe('route edghtsrt_1 of edge edghts_1');
});

describe('saml', () => {
  test('sends every field under its name in the API', async () => {
    expect(await saml.desired(wanted({ saml: everything }), nothingToRead)).toEqual(asBody);
  });

  test('sends what the user set and enabled, which is true by default', async () => {
    const body = await saml.desired(wanted({ saml: { idpMetadata: '<a/>' } }), nothingToRead);
    expect(sent(body)).toEqual({ enabled: true, idp_metadata: '<a/>' });
  });

  const ref = { name: 'idp', key: 'xml' };
  test.each([
    ['configMapKeyRef', 'ConfigMap idp/xml'],
    ['secretKeyRef', 'Secret idp/xml'],
  ])('metadata from %s', async (from, text) => {
    const body = await saml.desired(wanted({ saml: { idpMetadataFrom: { [from]: ref } } }), read);
    expect(body?.idp_metadata).toBe(text);
  });

  const cases: readonly [why: string, change: Partial<SAML>, fields: readonly string[]][] = [
    ['as asked', {}, []],
    ['groups in another order', { authorized_groups: ['g2', 'g1'] }, []],
    ['a group more', { authorized_groups: ['g1', 'g2', 'g3'] }, ['authorizedGroups']],
    ['a group less', { authorized_groups: ['g1'] }, ['authorizedGroups']],
    ['enabled', { enabled: true }, ['enabled']],
    ['options passthrough', { options_passthrough: false }, ['optionsPassthrough']],
    ['cookie prefix', { cookie_prefix: 'd.' }, ['cookiePrefix']],
    ['inactivity timeout', { inactivity_timeout: 1 }, ['inactivityTimeoutSeconds']],
    ['maximum duration', { maximum_duration: 1 }, ['maximumDurationSeconds']],
    ['metadata, by a blank', { idp_metadata: '<a />' }, ['idpMetadata']],
    ['force authn', { force_authn: false }, ['forceAuthn']],
    ['idp initiated', { allow_idp_initiated: true }, ['allowIdpInitiated']],
    ['name id format', { nameid_format: 'g' }, ['nameidFormat']],
    ['what the service alone decides', { entity_id: 'https://other', idp_metadata_url: 'u' }, []],
  ];
  test.each(cases)('diff: %s', (_why, change, fields) => {
    expect(saml.diff(asBody, { ...found, ...change })).toEqual(fields);
  });

  test('diff: what the user left out is not compared', () => {
    const body: SAMLReplace = { enabled: false, idp_metadata: '<a/>' };
    const other = { cookie_prefix: 'x', maximum_duration: 9, force_authn: false, authorized_groups: ['x'] };
    expect(saml.diff(body, { ...found, ...other })).toEqual([]);
  });

  test('keeps what is left out as it is there, but for what left the spec', () => {
    const body: SAMLReplace = { enabled: true, idp_metadata: '<b/>', force_authn: false };
    const kept = { ...asBody, ...body };
    expect(saml.filled?.(body, found, [])).toEqual(kept);
    const { authorized_groups: _, nameid_format: __, ...left } = kept;
    expect(saml.filled?.(body, found, ['authorizedGroups', 'nameidFormat'])).toEqual(left);
  });

  test('names what it leaves out, of which metadata from elsewhere is none', async () => {
    const from = wanted({ saml: { idpMetadataFrom: { secretKeyRef: ref }, cookiePrefix: 'a.', forceAuthn: false } });
    const body = (await saml.desired(from, read)) ?? {};
    const timeouts = ['inactivityTimeoutSeconds', 'maximumDurationSeconds'];
    const others = ['allowIdpInitiated', 'nameidFormat', 'authorizedGroups'];
    expect(saml.unset?.(body)).toEqual(['optionsPassthrough', ...timeouts, ...others]);
  });

  test('sends no list and no text of which there is none', () => {
    const body: SAMLReplace = { enabled: false, idp_metadata: '<a/>' };
    const filled = saml.filled?.(body, { ...found, authorized_groups: [], cookie_prefix: '' }, []);
    expect(filled).not.toHaveProperty('authorized_groups');
    expect(filled).not.toHaveProperty('cookie_prefix');
    expect(filled).toMatchObject({ inactivity_timeout: 0, allow_idp_initiated: false });
  });

  test('refuses metadata that is empty where it is read from', () => {
    expect(saml.refusal?.({ ...asBody, idp_metadata: '' }, undefined)).toMatch(/idpMetadataFrom .* is empty/);
    expect(saml.refusal?.(asBody, undefined)).toBeUndefined();
  });

  test('status: what the identity provider needs to know, and not the metadata', () => {
    expect(saml.status(found)).toEqual({
      entityID: 'https://sp/metadata',
      assertionConsumerServiceURL: 'https://sp/acs',
      singleLogoutURL: 'https://sp/slo',
      requestSigningCertificatePEM: 'PEM',
      metadataURL: 'https://sp/metadata',
      idpMetadataURL: '',
    });
  });
});

describe('ipRestriction', () => {
  const refs = (...names: readonly string[]) => names.map((id) => ({ id, uri: `https://api/ip_policies/${id}` }));

  test('sends ids', async () => {
    const body = await ipRestriction.desired(wanted({ ipRestriction: { ipPolicyIDs: ['ipp_1'] } }), nothingToRead);
    expect(body).toEqual({ enabled: true, ip_policy_ids: ['ipp_1'] });
  });

  test.each([
    ['as asked', ['ipp_1', 'ipp_2'], refs('ipp_1', 'ipp_2'), true, []],
    ['in another order', ['ipp_1', 'ipp_2'], refs('ipp_2', 'ipp_1'), true, []],
    ['one too few', ['ipp_1', 'ipp_2'], refs('ipp_1'), true, ['ipPolicyIDs']],
    ['one too many', ['ipp_1'], refs('ipp_1', 'ipp_2'), true, ['ipPolicyIDs']],
    ['none wanted', [], refs('ipp_1'), true, ['ipPolicyIDs']],
    ['left out', undefined, refs('ipp_1'), true, []],
    ['switched off', ['ipp_1'], refs('ipp_1'), false, ['enabled']],
  ])('diff: %s', (_why, ip_policy_ids, ip_policies, enabled, fields) => {
    expect(ipRestriction.diff({ enabled: true, ip_policy_ids }, { enabled, ip_policies })).toEqual(fields);
  });

  test.each([
    ['left out', undefined, refs('ipp_1', 'ipp_2'), [], ['ipp_1', 'ipp_2']],
    ['left out, and none there', undefined, [], [], undefined],
    ['asked for', ['ipp_3'], refs('ipp_1'), [], ['ipp_3']],
    ['none wanted', [], refs('ipp_1'), [], []],
    ['that left the spec', undefined, refs('ipp_1'), ['ipPolicyIDs'], undefined],
  ])('policies %s', (_why, ip_policy_ids, ip_policies, leftOut, kept) => {
    const filled = ipRestriction.filled?.({ enabled: true, ip_policy_ids }, { enabled: false, ip_policies }, leftOut);
    expect(filled).toEqual({ enabled: true, ip_policy_ids: kept });
  });
});

describe('webhookVerification', () => {
  const secretRef = { name: 'hooks', key: 'github' };
  const body = { enabled: true, provider: 'github', secret: 's1' };

  test('sends the secret that the reference names', async () => {
    const asked = wanted({ webhookVerification: { provider: 'github', secretRef } });
    expect(await webhookVerification.desired(asked, read)).toEqual({ ...body, secret: 'Secret hooks/github' });
  });

  test('the notification service needs no secret', async () => {
    const asked = wanted({ webhookVerification: { provider: 'SNS' } });
    expect(sent(await webhookVerification.desired(asked, nothingToRead))).toEqual({ enabled: true, provider: 'SNS' });
  });

  test.each([
    ['as asked', body, { ...body }, []],
    ['another secret, named by its field', body, { ...body, secret: 's2' }, ['secretRef']],
    ['no secret out there', body, { enabled: true, provider: 'github' }, ['secretRef']],
    ['another provider', body, { ...body, provider: 'slack' }, ['provider']],
    ['switched off', body, { ...body, enabled: false }, ['enabled']],
    ['another provider in its place', { enabled: true, provider: 'SNS' }, { ...body, secret: '' }, ['provider']],
    [
      'the notification service, in other letters',
      { enabled: true, provider: 'SNS' },
      { enabled: true, provider: 'sns' },
      [],
    ],
    ['another provider in other letters', body, { ...body, provider: 'GitHub' }, ['provider']],
    ['a secret that nobody asked for', { enabled: true, provider: 'sns' }, { ...body, provider: 'sns' }, []],
  ])('diff: %s', (_why, asked, shown, fields) => {
    expect(webhookVerification.diff(asked, shown)).toEqual(fields);
  });

  test('keeps a secret that nobody asked for, unless it left the spec', () => {
    const sns = { enabled: true, provider: 'sns' };
    expect(webhookVerification.filled?.(sns, { ...body, enabled: false }, [])).toEqual({ ...sns, secret: 's1' });
    expect(webhookVerification.filled?.(sns, body, ['secretRef'])).toEqual(sns);
    expect(webhookVerification.filled?.(sns, { ...sns, secret: null }, [])).toEqual(sns);
  });

  test('refuses an empty secret, but for the notification service', () => {
    expect(webhookVerification.refusal?.({ ...body, secret: '' }, undefined)).toMatch(/secretRef .* is empty/);
    expect(webhookVerification.refusal?.({ ...body, provider: 'sns', secret: '' }, undefined)).toBeUndefined();
    expect(webhookVerification.refusal?.(body, undefined)).toBeUndefined();
  });

  test('status shows nothing of it', () => expect(webhookVerification.status(body)).toEqual({}));
});

describe('compression', () => {
  test('is on unless switched off', async () => {
    expect(await compression.desired(wanted({ compression: {} }), nothingToRead)).toEqual({ enabled: true });
    expect(await compression.desired(wanted({ compression: { enabled: false } }), nothingToRead)).toEqual({
      enabled: false,
    });
  });
  test.each([
    [true, []],
    [false, ['enabled']],
  ])('diff: enabled is %s', (enabled, fields) =>
    expect(compression.diff({ enabled: true }, { enabled })).toEqual(fields),
  );
});

describe('what the schema refuses', () => {
  const secretRef = { name: 'hooks', key: 'k' };
  const cases: readonly [why: string, parts: object, path: string][] = [
    ['no metadata', { saml: {} }, 'saml'],
    ['metadata twice', { saml: { idpMetadata: 'x', idpMetadataFrom: { secretKeyRef: secretRef } } }, 'saml'],
    ['a source of metadata that names nothing', { saml: { idpMetadataFrom: {} } }, 'saml.idpMetadataFrom'],
    [
      'a source of metadata that names two',
      { saml: { idpMetadataFrom: { secretKeyRef: secretRef, configMapKeyRef: secretRef } } },
      'saml.idpMetadataFrom',
    ],
    [
      'a timeout of 2^32',
      { saml: { ...everything, inactivityTimeoutSeconds: 2 ** 32 } },
      'saml.inactivityTimeoutSeconds',
    ],
    ['a timeout below 0', { saml: { ...everything, maximumDurationSeconds: -1 } }, 'saml.maximumDurationSeconds'],
    ['a provider without its secret', { webhookVerification: { provider: 'github' } }, 'webhookVerification'],
    [
      'a name that would widen the watch',
      { webhookVerification: { provider: 'github', secretRef: { name: 'a,metadata.name!=b', key: 'k' } } },
      'webhookVerification.secretRef.name',
    ],
  ];
  test.each(cases)('%s', (_why, parts, path) => {
    const issues = spec.safeParse({ ...ids, ...parts }).error?.issues.map((issue) => issue.path.join('.'));
    expect(issues).toEqual([path]);
  });

  test.each(['sns', 'SNS', 'Sns'])('provider %s needs no secret', (provider) => {
    expect(spec.safeParse({ ...ids, webhookVerification: { provider } }).success).toBe(true);
  });
});

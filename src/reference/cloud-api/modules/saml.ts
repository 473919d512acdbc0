import { z } from 'zod';
import { enabled, flag, text, textList, uri } from '../fields.ts';
import { defineModule } from './module.ts';
import { selfSignedCertificate } from './self-signed.ts';

/** The service's own name followed by a dot. */
const cookiePrefix = 'edge.';
const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';

const uint32 = z
  .int({ error: 'must be a whole number' })
  .min(0, 'must be at least 0')
  .max(4_294_967_295, 'must be at most 4294967295');

const body = z.strictObject({
  enabled,
  options_passthrough: flag.default(false).describe('whether OPTIONS requests pass without authentication'),
  cookie_prefix: text.default(cookiePrefix),
  inactivity_timeout: uint32.default(0).describe('seconds; 0 is none'),
  maximum_duration: uint32.default(0).describe('seconds; 0 is none'),
  idp_metadata: text.min(1, 'must not be empty').describe('XML EntityDescriptor of the IdP'),
  force_authn: flag.default(false),
  allow_idp_initiated: flag.default(false),
  authorized_groups: textList.default([]).describe('when not empty, who may come in'),
  nameid_format: text.default(persistent),
});

const answer = body.extend({
  idp_metadata_url: text.describe('empty when the metadata was supplied inline'),
  entity_id: uri.describe('SP entity ID; equal to metadata_url'),
  assertion_consumer_service_url: uri,
  single_logout_url: uri,
  request_signing_certificate_pem: text.describe('certificate of the key that signs the SAML requests of the SP'),
  metadata_url: uri.describe('where the SP metadata is'),
});

interface Stored extends z.output<typeof body> {
  readonly certificate: string;
}

/** The signing certificate stays while the module is set, or each update would break trust at the IdP. */
export const saml = defineModule<typeof body, typeof answer, Stored>({
  name: 'saml',
  title: 'SamlModule',
  parent: 'httpsRoute',
  onUpstream: false,
  body,
  answer,
  replace: (wanted, { parent, world }, before) => ({
    ...wanted,
    certificate: before?.certificate ?? selfSignedCertificate(`saml ${parent.id}`, world.clock.now(), world.random),
  }),
  render: ({ certificate, ...stored }, { parent }) => {
    const serviceProvider = `https://saml.edge.localhost/${parent.id}`;
    return {
      ...stored,
      idp_metadata_url: '',
      entity_id: `${serviceProvider}/metadata`,
      assertion_consumer_service_url: `${serviceProvider}/acs`,
      single_logout_url: `${serviceProvider}/slo`,
      request_signing_certificate_pem: certificate,
      metadata_url: `${serviceProvider}/metadata`,
    };
  },
});

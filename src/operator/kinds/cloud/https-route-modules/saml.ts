import type { CloudClient } from '../../../cloud/client.ts';
import type { SAML, SAMLReplace } from '../../../cloud/schemas.ts';
import { fieldsOf } from '../../../reconcile/parts/fields.ts';
import type { Part, ReadReference } from '../../../reconcile/parts/part.ts';
import type { Spec, Status } from './schema.ts';

type SamlSpec = NonNullable<Spec['saml']>;

export const saml: Part<Spec, CloudClient, SAMLReplace, SAML> = {
  name: 'saml',
  condition: 'SamlReady',
  displayName: 'SAML module',
  desired: async (spec, read) => (spec.saml === undefined ? undefined : toReplace(spec.saml, read)),
  refusal: ({ idp_metadata }) =>
    idp_metadata === '' ? 'what idpMetadataFrom names is empty: put the XML EntityDescriptor there' : undefined,
  status: toStatus,
  ...fieldsOf<SAMLReplace, SAML>({
    enabled: 'enabled',
    optionsPassthrough: 'options_passthrough',
    cookiePrefix: 'cookie_prefix',
    inactivityTimeoutSeconds: 'inactivity_timeout',
    maximumDurationSeconds: 'maximum_duration',
    // Compared as text.
    idpMetadata: 'idp_metadata',
    forceAuthn: 'force_authn',
    allowIdpInitiated: 'allow_idp_initiated',
    nameidFormat: 'nameid_format',
    authorizedGroups: 'authorized_groups',
  }),
  get: (cloud, route, call) => cloud.routeModules.saml.get(route, call),
  replace: (cloud, route, body, call) => cloud.routeModules.saml.replace(route, body, call),
  delete: (cloud, route, call) => cloud.routeModules.saml.delete(route, call),
};

async function toReplace(spec: SamlSpec, read: ReadReference): Promise<SAMLReplace> {
  return {
    enabled: spec.enabled,
    options_passthrough: spec.optionsPassthrough,
    cookie_prefix: spec.cookiePrefix,
    inactivity_timeout: spec.inactivityTimeoutSeconds,
    maximum_duration: spec.maximumDurationSeconds,
    idp_metadata: await metadataOf(spec, read),
    force_authn: spec.forceAuthn,
    allow_idp_initiated: spec.allowIdpInitiated,
    authorized_groups: spec.authorizedGroups,
    nameid_format: spec.nameidFormat,
  };
}

async function metadataOf({ idpMetadata, idpMetadataFrom }: SamlSpec, read: ReadReference) {
  if (idpMetadataFrom?.configMapKeyRef) return read({ kind: 'ConfigMap', ...idpMetadataFrom.configMapKeyRef });
  if (idpMetadataFrom?.secretKeyRef) return read({ kind: 'Secret', ...idpMetadataFrom.secretKeyRef });
  return idpMetadata;
}

function toStatus(found: SAML): Omit<NonNullable<Status['saml']>, 'applied'> {
  return {
    entityID: found.entity_id,
    assertionConsumerServiceURL: found.assertion_consumer_service_url,
    singleLogoutURL: found.single_logout_url,
    requestSigningCertificatePEM: found.request_signing_certificate_pem,
    metadataURL: found.metadata_url,
    idpMetadataURL: found.idp_metadata_url,
  };
}

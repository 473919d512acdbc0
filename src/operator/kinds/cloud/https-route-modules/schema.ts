import { z } from 'zod';
import { cloudID } from '../../../../common/cloud-id.ts';
import { edgeType, type KindDefinition } from '../../../reconcile/kind.ts';
import { mostBytes } from '../../../reconcile/resource/bounds.ts';
import { managedSpec, managedStatus } from '../../../reconcile/resource/resource.ts';
import { atomic, enabled, enabledInAtomic, keyRef, parentID, readiness, set, textOfBytes } from '../fields.ts';

/** Cloud Management API, section 8: timeouts are uint32 seconds. */
const maxUint32 = 4_294_967_295;

/** The provider whose requests are verified without a secret, in any case (Cloud Management API, section 7). */
const notificationProvider = 'sns';

const seconds = z.int().min(0).max(maxUint32);

const idpMetadataFrom = z
  .object({
    configMapKeyRef: keyRef.optional().describe('A key of a ConfigMap.'),
    secretKeyRef: keyRef.optional().describe('A key of a Secret.'),
  })
  .refine(
    ({ configMapKeyRef, secretKeyRef }) => (configMapKeyRef === undefined) !== (secretKeyRef === undefined),
    'needs exactly one of configMapKeyRef and secretKeyRef',
  )
  .meta({
    'x-kubernetes-validations': [
      {
        rule: 'has(self.configMapKeyRef) != has(self.secretKeyRef)',
        message: 'needs exactly one of configMapKeyRef and secretKeyRef',
      },
    ],
  });

const saml = z
  .object({
    enabled: enabled('module'),
    optionsPassthrough: z
      .boolean()
      .optional()
      .describe('Lets HTTP OPTIONS requests through without authentication, as CORS needs.'),
    cookiePrefix: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe('Prefix of the cookie that keeps the session of a client.'),
    inactivityTimeoutSeconds: seconds
      .optional()
      .describe('Seconds of inactivity after which the user must authenticate again.'),
    maximumDurationSeconds: seconds
      .optional()
      .describe('Longest time of a session in seconds, after which the user must authenticate again.'),
    idpMetadata: textOfBytes('idpMetadata', mostBytes, z.string().min(1))
      .optional()
      .describe('The full XML EntityDescriptor of the identity provider. Exactly one of this and idpMetadataFrom.'),
    idpMetadataFrom: idpMetadataFrom
      .optional()
      .describe('Where the XML EntityDescriptor of the identity provider is read from, and followed when it changes.'),
    forceAuthn: z
      .boolean()
      .optional()
      .describe('Has the identity provider ask for credentials even when the user has a session there.'),
    allowIdpInitiated: z
      .boolean()
      .optional()
      .describe('Lets the identity provider start a login; it sets RelayState to the target URL.'),
    authorizedGroups: z
      .array(z.string().min(1).max(256))
      .max(1_000)
      // Not a set: of one that is applied empty server-side apply leaves nothing.
      .meta({ 'x-kubernetes-list-type': 'atomic' })
      .optional()
      .describe('Only members of one of these groups may come in.'),
    nameidFormat: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe(
        'Name identifier format expected in assertions, such as urn:oasis:names:tc:SAML:2.0:nameid-format:persistent.',
      ),
  })
  .refine(
    ({ idpMetadata, idpMetadataFrom: from }) => (idpMetadata === undefined) !== (from === undefined),
    'needs exactly one of idpMetadata and idpMetadataFrom',
  )
  .meta({
    'x-kubernetes-validations': [
      {
        rule: 'has(self.idpMetadata) != has(self.idpMetadataFrom)',
        message: 'needs exactly one of idpMetadata and idpMetadataFrom',
      },
    ],
  });

const ipRestriction = z.object({
  enabled: enabled('module'),
  ipPolicyIDs: z
    .array(cloudID)
    .max(256)
    .meta(set)
    .optional()
    .describe('Ids (ipp_...) of the IP policies that the source address is checked by.'),
});

const webhookVerification = z
  .object({
    enabled: enabled('module'),
    provider: z.string().min(1).max(256).describe('Which webhook provider sends to the endpoint.'),
    secretRef: keyRef
      .optional()
      .describe(
        `Key of a Secret that validates the provider's requests; every provider but ${notificationProvider} needs it.`,
      ),
  })
  .refine(
    ({ provider, secretRef }) => needsNoSecret(provider) || secretRef !== undefined,
    `secretRef is required by every provider but ${notificationProvider}`,
  )
  .meta({
    'x-kubernetes-validations': [
      {
        rule: `self.provider.lowerAscii() == '${notificationProvider}' || has(self.secretRef)`,
        message: `secretRef is required by every provider but ${notificationProvider}`,
      },
    ],
  });

const compression = z.object({ enabled: enabledInAtomic('module') }).meta(atomic);

export const spec = z.object({
  ...managedSpec,
  edgeID: parentID('edgeID').describe('Id (edghts_...) of the HTTPS edge; cannot be changed.'),
  routeID: parentID('routeID').describe('Id (edghtsrt_...) of the route of that edge; cannot be changed.'),
  saml: saml.optional().describe('Users authenticate at a SAML identity provider.'),
  ipRestriction: ipRestriction.optional().describe('Source addresses are checked by IP policies.'),
  webhookVerification: webhookVerification.optional().describe('Requests must be signed by a webhook provider.'),
  compression: compression.optional().describe('Responses are compressed.'),
});

const applied = z.boolean().describe('Whether the module is as the spec asks.');

export const status = z.object({
  ...managedStatus,
  saml: z
    .object({
      applied,
      entityID: z.string().optional().describe('Entity ID of the service provider, for the identity provider.'),
      assertionConsumerServiceURL: z
        .string()
        .optional()
        .describe('Assertion Consumer Service of the service provider, for the identity provider.'),
      singleLogoutURL: z.string().optional().describe('Single Logout Service, optional for the identity provider.'),
      requestSigningCertificatePEM: z
        .string()
        .optional()
        .describe('Certificate of the key that signs SAML requests, PEM.'),
      metadataURL: z.string().optional().describe('Where the metadata of the service provider is.'),
      idpMetadataURL: z
        .string()
        .optional()
        .describe('Where the metadata of the identity provider came from; empty when it was given as text.'),
    })
    .optional()
    .describe('The SAML module.'),
  ipRestriction: z.object({ applied }).optional().describe('The IP restriction module.'),
  webhookVerification: z.object({ applied }).optional().describe('The webhook verification module.'),
  compression: z.object({ applied }).optional().describe('The compression module.'),
});

export type Spec = z.infer<typeof spec>;
export type Status = z.infer<typeof status>;

/** Of the webhook providers, the one whose requests are verified without a secret. */
export function needsNoSecret(provider: string): boolean {
  return provider.toLowerCase() === notificationProvider;
}

export const definition: KindDefinition = {
  type: edgeType('HttpsRouteModules', 'httpsroutemodules'),
  singular: 'httpsroutemodules',
  shortNames: ['hrm'],
  description: 'Modules of a route of an HTTPS edge. Parts that are not named here are not touched.',
  spec,
  status,
  columns: [
    { name: 'EDGE', type: 'string', jsonPath: '.spec.edgeID' },
    { name: 'ROUTE', type: 'string', jsonPath: '.spec.routeID' },
    readiness('SAML', 'SamlReady'),
    readiness('IP', 'IpRestrictionReady'),
    readiness('WEBHOOK', 'WebhookVerificationReady'),
    readiness('COMPRESSION', 'CompressionReady'),
  ],
  selectable: ['.spec.accountRef.name', '.spec.edgeID', '.spec.routeID'],
};

import { z } from 'zod';
import { refSchema } from './schemas.ts';

/* Responses of the modules of edges and routes (Cloud Management API, section 2). */

function listOf<Item>(item: z.ZodType<Item>) {
  return z
    .array(item)
    .nullish()
    .transform((list) => list ?? []);
}

export const samlSchema = z.object({
  enabled: z.boolean(),
  options_passthrough: z.boolean(),
  cookie_prefix: z.string(),
  /** Seconds. */
  inactivity_timeout: z.number(),
  /** Seconds. */
  maximum_duration: z.number(),
  /** XML. */
  idp_metadata: z.string(),
  force_authn: z.boolean(),
  allow_idp_initiated: z.boolean(),
  authorized_groups: listOf(z.string()),
  nameid_format: z.string(),
  /** Empty when the metadata was supplied inline. */
  idp_metadata_url: z.string(),
  entity_id: z.string(),
  assertion_consumer_service_url: z.string(),
  single_logout_url: z.string(),
  request_signing_certificate_pem: z.string(),
  metadata_url: z.string(),
});
export type SAML = z.infer<typeof samlSchema>;

export const ipRestrictionSchema = z.object({ enabled: z.boolean(), ip_policies: listOf(refSchema) });
export type IPRestriction = z.infer<typeof ipRestrictionSchema>;

export const webhookVerificationSchema = z.object({
  enabled: z.boolean(),
  provider: z.string(),
  /** As stored; a secret. Providers that need none have none. */
  secret: z.string().nullish(),
});
export type WebhookVerification = z.infer<typeof webhookVerificationSchema>;

export const compressionSchema = z.object({ enabled: z.boolean() });
export type Compression = z.infer<typeof compressionSchema>;

export const trafficPolicySchema = z.object({
  enabled: z.boolean(),
  /** The policy as compact JSON. */
  value: z.string(),
});
export type TrafficPolicy = z.infer<typeof trafficPolicySchema>;

export const mutualTLSSchema = z.object({ enabled: z.boolean(), certificate_authorities: listOf(refSchema) });
export type MutualTLS = z.infer<typeof mutualTLSSchema>;

export const tlsTerminationSchema = z.object({
  enabled: z.boolean(),
  /** `edge` or `upstream` today. */
  terminate_at: z.string(),
  /** Null when TLS is passed through. */
  min_version: z.string().nullish(),
});
export type TLSTermination = z.infer<typeof tlsTerminationSchema>;

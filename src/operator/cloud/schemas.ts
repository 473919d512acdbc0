import { z } from 'zod';
import { cloudID } from '../../common/cloud-id.ts';

/*
 * What the Cloud Management API answers and takes (Cloud Management API, sections 2 and 4). In answers unknown fields
 * are dropped, what may be omitted may also be null, and a list that is null is empty. A field of a request that is
 * undefined is not sent: an update leaves it alone, a replace resets it to the service's default.
 */

function listOf<Item>(item: z.ZodType<Item>) {
  return z
    .array(item)
    .nullish()
    .transform((list) => list ?? []);
}

/** What goes into a status, or names a place: an answer with a longer one could be written nowhere. */
const text = z.string().max(2_048);
/** A chain of certificates, or a URL that has more in it than a place. */
const longText = z.string().max(16 * 1_024);

/** What is none names nothing: who took it for what was made would make another, and another. */
const id = cloudID;

type Fields<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** An edge, route, policy, authority, domain, tunnel or endpoint configuration, by id only. */
export const refSchema = z.object({ id: text, uri: text });
export type Ref = z.infer<typeof refSchema>;

export const reservedAddrSchema = z.object({
  id,
  uri: text,
  /** RFC 3339. */
  created_at: text,
  description: z.string(),
  /** At most 4096 bytes; absent when unset. */
  metadata: z.string().nullish(),
  /** `hostname:port`. */
  addr: text,
  region: text,
  endpoint_configuration: refSchema.nullish(),
});
export type ReservedAddr = z.infer<typeof reservedAddrSchema>;
export type ReservedAddrCreate = Fields<{ description: string; metadata: string; region: string }>;
export type ReservedAddrUpdate = Fields<{ description: string; metadata: string; endpoint_configuration_id: string }>;

export const botUserSchema = z.object({
  id,
  uri: text,
  name: z.string(),
  active: z.boolean(),
  /** RFC 3339. */
  created_at: text,
});
export type BotUser = z.infer<typeof botUserSchema>;
export type BotUserCreate = Fields<{ name: string; active: boolean }>;
export type BotUserUpdate = Fields<{ name: string; active: boolean }>;

export const endpointSchema = z.object({
  id,
  region: z.string(),
  /** RFC 3339. */
  created_at: z.string(),
  /** RFC 3339. */
  updated_at: z.string(),
  public_url: z.string(),
  /** `http`, `https`, `tcp` or `tls` today. */
  proto: z.string(),
  /** `hostname:port`. */
  hostport: z.string(),
  /** `ephemeral` or `edge` today. */
  type: z.string(),
  metadata: z.string().nullish(),
  domain: refSchema.nullish(),
  tcp_addr: refSchema.nullish(),
  tunnel: refSchema.nullish(),
  edge: refSchema.nullish(),
});
export type Endpoint = z.infer<typeof endpointSchema>;

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
  idp_metadata_url: longText,
  entity_id: longText,
  assertion_consumer_service_url: longText,
  single_logout_url: longText,
  request_signing_certificate_pem: longText,
  metadata_url: longText,
});
export type SAML = z.infer<typeof samlSchema>;
export type SAMLReplace = Fields<{
  enabled: boolean;
  options_passthrough: boolean;
  cookie_prefix: string;
  /** Seconds, uint32. */
  inactivity_timeout: number;
  /** Seconds, uint32. */
  maximum_duration: number;
  /** The full XML EntityDescriptor. */
  idp_metadata: string;
  force_authn: boolean;
  allow_idp_initiated: boolean;
  authorized_groups: readonly string[];
  nameid_format: string;
}>;

export const ipRestrictionSchema = z.object({ enabled: z.boolean(), ip_policies: listOf(refSchema) });
export type IPRestriction = z.infer<typeof ipRestrictionSchema>;
export type IPRestrictionReplace = Fields<{ enabled: boolean; ip_policy_ids: readonly string[] }>;

export const webhookVerificationSchema = z.object({
  enabled: z.boolean(),
  provider: z.string(),
  /** As stored; a secret. Providers that need none have none. */
  secret: z.string().nullish(),
});
export type WebhookVerification = z.infer<typeof webhookVerificationSchema>;
export type WebhookVerificationReplace = Fields<{ enabled: boolean; provider: string; secret: string }>;

export const compressionSchema = z.object({ enabled: z.boolean() });
export type Compression = z.infer<typeof compressionSchema>;
export type CompressionReplace = Fields<{ enabled: boolean }>;

export const trafficPolicySchema = z.object({
  enabled: z.boolean(),
  /** The policy as compact JSON. */
  value: z.string(),
});
export type TrafficPolicy = z.infer<typeof trafficPolicySchema>;
export type TrafficPolicyReplace = Fields<{ enabled: boolean; value: string }>;

export const mutualTLSSchema = z.object({ enabled: z.boolean(), certificate_authorities: listOf(refSchema) });
export type MutualTLS = z.infer<typeof mutualTLSSchema>;
export type MutualTLSReplace = Fields<{ enabled: boolean; certificate_authority_ids: readonly string[] }>;

export const tlsTerminationSchema = z.object({
  enabled: z.boolean(),
  /** `edge` or `upstream` today. */
  terminate_at: text,
  /** Null when TLS is passed through. */
  min_version: z.string().nullish(),
});
export type TLSTermination = z.infer<typeof tlsTerminationSchema>;
export type TLSTerminationReplace = Fields<{ enabled: boolean; min_version: string | null }>;

/*
 * Request bodies (Cloud Management API, section 4). A field that is undefined is not sent: an update leaves it alone,
 * a replace resets it to the service's default.
 */

type Fields<T> = { readonly [K in keyof T]?: T[K] | undefined };

export type ReservedAddrCreate = Fields<{ description: string; metadata: string; region: string }>;
export type ReservedAddrUpdate = Fields<{ description: string; metadata: string; endpoint_configuration_id: string }>;

export type BotUserCreate = Fields<{ name: string; active: boolean }>;
export type BotUserUpdate = Fields<{ name: string; active: boolean }>;

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
export type IPRestrictionReplace = Fields<{ enabled: boolean; ip_policy_ids: readonly string[] }>;
export type WebhookVerificationReplace = Fields<{ enabled: boolean; provider: string; secret: string }>;
export type CompressionReplace = Fields<{ enabled: boolean }>;
export type TrafficPolicyReplace = Fields<{ enabled: boolean; value: string }>;
export type MutualTLSReplace = Fields<{ enabled: boolean; certificate_authority_ids: readonly string[] }>;
export type TLSTerminationReplace = Fields<{ enabled: boolean; min_version: string | null }>;

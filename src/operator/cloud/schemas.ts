import { z } from 'zod';

/*
 * Responses (Cloud Management API, section 2). Unknown fields are dropped, what may be omitted may
 * also be null, and a list that is null is empty.
 */

/** An edge, route, policy, authority, domain, tunnel or endpoint configuration, by id only. */
export const refSchema = z.object({ id: z.string(), uri: z.string() });
export type Ref = z.infer<typeof refSchema>;

export const reservedAddrSchema = z.object({
  id: z.string(),
  uri: z.string(),
  /** RFC 3339. */
  created_at: z.string(),
  description: z.string(),
  /** At most 4096 bytes; absent when unset. */
  metadata: z.string().nullish(),
  /** `hostname:port`. */
  addr: z.string(),
  region: z.string(),
  endpoint_configuration: refSchema.nullish(),
});
export type ReservedAddr = z.infer<typeof reservedAddrSchema>;

export const botUserSchema = z.object({
  id: z.string(),
  uri: z.string(),
  name: z.string(),
  active: z.boolean(),
  /** RFC 3339. */
  created_at: z.string(),
});
export type BotUser = z.infer<typeof botUserSchema>;

export const endpointSchema = z.object({
  id: z.string(),
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

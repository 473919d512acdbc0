import { z } from 'zod';
import { nestsDeeper } from '../../common/nesting.ts';

/*
 * Responses (Local Agent API, section 2). Unknown fields are kept, so that they can be shown; what is
 * a list or map may be null where it is empty.
 */

export const list = <T extends z.ZodType>(item: T) =>
  z
    .array(item)
    .nullish()
    .transform((items) => items ?? []);

const httpMetricsSchema = z.looseObject({
  count: z.number(),
  /** Events per second, exponentially weighted over 1, 5 and 15 minutes. */
  rate1: z.number(),
  rate5: z.number(),
  rate15: z.number(),
  /** Durations; our agent gives nanoseconds. */
  p50: z.number(),
  p90: z.number(),
  p95: z.number(),
  p99: z.number(),
});
export type HttpMetrics = z.infer<typeof httpMetricsSchema>;

/** More than any options have, with what is around them. */
const mostLevels = 200;

export const tunnelSchema = z
  .looseObject({
    /** Empty for an unnamed tunnel, which its `uri` still tells apart. */
    name: z.string(),
    uri: z.string(),
    public_url: z.string(),
    /** `http`, `tcp` or `tls` today. */
    proto: z.string(),
    config: z.looseObject({ addr: z.string(), inspect: z.boolean() }),
    metrics: z.looseObject({ conns: httpMetricsSchema.extend({ gauge: z.number() }), http: httpMetricsSchema }),
  })
  // What is not known here is kept, and compared.
  .refine((tunnel) => !nestsDeeper(tunnel, mostLevels), `nests deeper than ${mostLevels} levels`);
export type Tunnel = z.infer<typeof tunnelSchema>;

const headersSchema = z
  .record(z.string(), z.array(z.string()))
  .nullish()
  .transform((headers) => headers ?? {});

export const capturedRequestSchema = z.looseObject({
  uri: z.string(),
  id: z.string(),
  tunnel_name: z.string(),
  remote_addr: z.string(),
  /** ISO 8601 with a UTC offset. */
  start: z.string(),
  /** Our agent gives nanoseconds. */
  duration: z.number(),
  request: z.looseObject({
    method: z.string(),
    proto: z.string(),
    headers: headersSchema,
    /** The request target. */
    uri: z.string(),
    /** The raw bytes, head and body, in base64. */
    raw: z.string(),
  }),
  /** Null while the local server has not yet answered. */
  response: z
    .looseObject({
      status: z.string(),
      status_code: z.number(),
      proto: z.string(),
      headers: headersSchema,
      /** The raw bytes, head and body, in base64. */
      raw: z.string(),
    })
    .nullable(),
});
export type CapturedRequest = z.infer<typeof capturedRequestSchema>;

export const agentStatusSchema = z.looseObject({
  /** `online` is the only one that is shown (Local Agent API, section 3). */
  status: z.string(),
  agent_version: z.string(),
  session: z.looseObject({
    /** `latency` has a unit suffix, such as `0.2ms`. */
    legs: list(z.looseObject({ region: z.string(), latency: z.string() })),
  }),
  uri: z.string(),
});
export type AgentStatus = z.infer<typeof agentStatusSchema>;

/** Its shape is not shown (Local Agent API, section 4). */
export const rootSchema = z.looseObject({});
export type AgentRoot = z.infer<typeof rootSchema>;

export const tunnelListSchema = z.looseObject({ tunnels: list(tunnelSchema), uri: z.string() });
export type TunnelList = z.infer<typeof tunnelListSchema>;

export const requestListSchema = z.looseObject({ requests: list(capturedRequestSchema), uri: z.string() });
export type RequestList = z.infer<typeof requestListSchema>;

import type { z } from 'zod';
import type * as modules from './module-schemas.ts';
import {
  compressionSchema,
  ipRestrictionSchema,
  mutualTLSSchema,
  samlSchema,
  tlsTerminationSchema,
  trafficPolicySchema,
  webhookVerificationSchema,
} from './module-schemas.ts';
import type * as requests from './requests.ts';
import type { Module, Readable, Writable } from './resources.ts';
import { module, readable, writable } from './resources.ts';
import type { BotUser, Endpoint, ReservedAddr } from './schemas.ts';
import { botUserSchema, endpointSchema, reservedAddrSchema } from './schemas.ts';
import type { TransportOptions } from './transport.ts';
import { Transport } from './transport.ts';

export interface RouteKey {
  readonly edgeID: string;
  readonly routeID: string;
}

export interface RouteModules {
  readonly saml: Module<RouteKey, modules.SAML, requests.SAMLReplace>;
  readonly ipRestriction: Module<RouteKey, modules.IPRestriction, requests.IPRestrictionReplace>;
  readonly webhookVerification: Module<RouteKey, modules.WebhookVerification, requests.WebhookVerificationReplace>;
  readonly compression: Module<RouteKey, modules.Compression, requests.CompressionReplace>;
}

/** Keyed by edge id. */
export interface TLSEdges {
  readonly trafficPolicy: Module<string, modules.TrafficPolicy, requests.TrafficPolicyReplace>;
}

/** Keyed by edge id. */
export interface HTTPSEdges {
  readonly mutualTLS: Module<string, modules.MutualTLS, requests.MutualTLSReplace>;
  readonly tlsTermination: Module<string, modules.TLSTermination, requests.TLSTerminationReplace>;
}

/**
 * All 33 operations of the Cloud Management API, section 4. Absent is undefined; every failure is a CloudError, which
 * says whether the request can have been carried out. Nothing is retried here. Safe to use concurrently.
 */
export class CloudClient {
  readonly reservedAddrs: Writable<ReservedAddr, requests.ReservedAddrCreate, requests.ReservedAddrUpdate>;
  readonly botUsers: Writable<BotUser, requests.BotUserCreate, requests.BotUserUpdate>;
  readonly endpoints: Readable<Endpoint>;
  readonly routeModules: RouteModules;
  readonly tlsEdges: TLSEdges;
  readonly httpsEdges: HTTPSEdges;
  readonly #transport: Transport;

  /** Throws a TypeError for a base URL that is not usable. */
  constructor(options: TransportOptions) {
    const transport = new Transport(options);
    const onRoute = <T, R extends object>(name: string, schema: z.ZodType<T>): Module<RouteKey, T, R> =>
      module(
        transport,
        `https_route_${name}`,
        (at) => ['edges', 'https', at.edgeID, 'routes', at.routeID, name],
        schema,
      );
    const onEdge = <T, R extends object>(type: string, name: string, schema: z.ZodType<T>): Module<string, T, R> =>
      module(transport, `${type}_edge_${name}`, (edgeID) => ['edges', type, edgeID, name], schema);

    this.#transport = transport;
    this.reservedAddrs = writable(transport, 'reserved_addrs', reservedAddrSchema);
    this.botUsers = writable(transport, 'bot_users', botUserSchema);
    this.endpoints = readable(transport, 'endpoints', endpointSchema);
    this.routeModules = {
      saml: onRoute('saml', samlSchema),
      ipRestriction: onRoute('ip_restriction', ipRestrictionSchema),
      webhookVerification: onRoute('webhook_verification', webhookVerificationSchema),
      compression: onRoute('compression', compressionSchema),
    };
    this.tlsEdges = { trafficPolicy: onEdge('tls', 'traffic_policy', trafficPolicySchema) };
    this.httpsEdges = {
      mutualTLS: onEdge('https', 'mutual_tls', mutualTLSSchema),
      tlsTermination: onEdge('https', 'tls_termination', tlsTerminationSchema),
    };
  }

  /** Waits for the requests under way; an injected dispatcher stays open. */
  close(): Promise<void> {
    return this.#transport.close();
  }
}

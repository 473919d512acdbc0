import type { z } from 'zod';
import type { Call, Reserved } from '../../common/call.ts';
import { body, bodyOrAbsent, doneOrAbsent, malformed, type Read } from '../../common/http/answer.ts';
import { isDotSegment, pathOf } from '../../common/http/url.ts';
import type { OddItem } from '../../common/odd-item.ts';
import { allPages, itemsOf, type Page, page } from './pages.ts';
import * as schemas from './schemas.ts';
import { Transport, type TransportOptions } from './transport.ts';

export interface ListQuery {
  /** Items per page. */
  readonly limit?: number;
  /** Continue with what is older than this id. */
  readonly before_id?: string;
}

export interface PageOptions {
  /** Items per page; default 100. */
  readonly pageSize?: number;
}

/** A collection that can be read. A 404 for an id is undefined; a list answered by 404 is an error. */
export interface Readable<T> {
  get(id: string, call: Call): Promise<T | undefined>;
  /** One page. */
  list(query: ListQuery, call: Call): Promise<Page<T>>;
  /** Every page, newest first, each a request of its own, sent when it is asked for: leaving the loop sends no more. */
  pages(call: Call, options?: PageOptions): AsyncIterable<Page<T>>;
  /** Every item of these pages but odd ones, which `onOdd` is told of. */
  listAll(call: Call, options?: PageOptions & { readonly onOdd?: (item: OddItem) => void }): AsyncIterable<T>;
}

/** A collection whose items are made and changed through the API. */
export interface Writable<T, Create, Update> extends Readable<T> {
  create(fields: Create, call: Call): Promise<T>;
  update(id: string, fields: Update, call: Call): Promise<T>;
  /** What is named `.` or `..` is absent, without a request. */
  delete(id: string, call: Call): Promise<'deleted' | 'absent'>;
}

/** A module: one per parent, replaced whole. */
export interface Module<Parent, T, Replace> {
  replace(parent: Parent, fields: Replace, call: Call): Promise<T>;
  get(parent: Parent, call: Call): Promise<T | undefined>;
  delete(parent: Parent, call: Call): Promise<'deleted' | 'absent'>;
}

export interface RouteKey {
  readonly edgeID: string;
  readonly routeID: string;
}

export interface RouteModules {
  readonly saml: Module<RouteKey, schemas.SAML, schemas.SAMLReplace>;
  readonly ipRestriction: Module<RouteKey, schemas.IPRestriction, schemas.IPRestrictionReplace>;
  readonly webhookVerification: Module<RouteKey, schemas.WebhookVerification, schemas.WebhookVerificationReplace>;
  readonly compression: Module<RouteKey, schemas.Compression, schemas.CompressionReplace>;
}

/** Keyed by edge id. */
export interface TLSEdges {
  readonly trafficPolicy: Module<string, schemas.TrafficPolicy, schemas.TrafficPolicyReplace>;
}

/** Keyed by edge id. */
export interface HTTPSEdges {
  readonly mutualTLS: Module<string, schemas.MutualTLS, schemas.MutualTLSReplace>;
  readonly tlsTermination: Module<string, schemas.TLSTermination, schemas.TLSTerminationReplace>;
}

/**
 * All 33 operations of the Cloud Management API, section 4. Absent is undefined; every failure is an ApiError, which
 * says whether the request can have been carried out. Nothing is retried here. Safe to use concurrently.
 */
export class CloudClient {
  readonly reservedAddrs: Writable<schemas.ReservedAddr, schemas.ReservedAddrCreate, schemas.ReservedAddrUpdate>;
  readonly botUsers: Writable<schemas.BotUser, schemas.BotUserCreate, schemas.BotUserUpdate>;
  readonly endpoints: Readable<schemas.Endpoint>;
  readonly routeModules: RouteModules;
  readonly tlsEdges: TLSEdges;
  readonly httpsEdges: HTTPSEdges;
  readonly #transport: Transport;

  /** @throws TypeError for a base URL that is not usable. */
  constructor(options: TransportOptions) {
    const transport = new Transport(options, { ...cheapList, read: reads.botUsers.many });
    const onRoute = <T, R extends object>(name: string, reads: ModuleReads<T>, isSecret = false) =>
      module<RouteKey, T, R>(transport, { resource: `https_route_${name}`, isSecret }, reads, (route) => [
        ...['edges', 'https', route.edgeID],
        ...['routes', route.routeID, name],
      ]);
    const onEdge = <T, R extends object>(type: string, name: string, reads: ModuleReads<T>) =>
      module<string, T, R>(transport, { resource: `${type}_edge_${name}`, isSecret: false }, reads, (edgeID) => [
        ...['edges', type, edgeID, name],
      ]);

    this.#transport = transport;
    this.reservedAddrs = writable(transport, 'reserved_addrs', reads.reservedAddrs);
    this.botUsers = writable(transport, 'bot_users', reads.botUsers);
    this.endpoints = readable(transport, 'endpoints', reads.endpoints);
    this.routeModules = {
      saml: onRoute('saml', reads.saml, true),
      ipRestriction: onRoute('ip_restriction', reads.ipRestriction),
      webhookVerification: onRoute('webhook_verification', reads.webhookVerification, true),
      compression: onRoute('compression', reads.compression),
    };
    this.tlsEdges = { trafficPolicy: onEdge('tls', 'traffic_policy', reads.trafficPolicy) };
    this.httpsEdges = {
      mutualTLS: onEdge('https', 'mutual_tls', reads.mutualTLS),
      tlsTermination: onEdge('https', 'tls_termination', reads.tlsTermination),
    };
  }

  /** What the service's clock shows now, in milliseconds since the epoch; undefined before its first answer. */
  serviceTime(): number | undefined {
    return this.#transport.serviceTime();
  }

  /** Waits for the turn of one call, which may then be made at once. */
  reserve(call: Call): Promise<Reserved> {
    return this.#transport.reserve(call);
  }

  /** Waits for the requests under way; an injected dispatcher stays open. */
  close(): Promise<void> {
    return this.#transport.close();
  }
}

const defaultPageSize = 100;
const cheapList = { name: 'bot_users.list', method: 'GET', path: '/bot_users?limit=1' } as const;
const deleted = doneOrAbsent('deleted');

type ModuleReads<T> = ReturnType<typeof moduleReads<T>>;
type CollectionReads<T> = ReturnType<typeof collectionReads<T>>;

function moduleReads<T>(schema: z.ZodType<T>) {
  return { one: bodyOrAbsent(schema), replaced: body(schema) };
}

function collectionReads<T>(collection: string, schema: z.ZodType<T>) {
  const created = body(schema, { missing: 'Unreachable' });
  return { one: bodyOrAbsent(schema), many: page(collection, schema), created, updated: body(schema) };
}

/** Once for all accounts: schemas are larger than all else that a client is made of. */
const reads = {
  reservedAddrs: collectionReads('reserved_addrs', schemas.reservedAddrSchema),
  botUsers: collectionReads('bot_users', schemas.botUserSchema),
  endpoints: collectionReads('endpoints', schemas.endpointSchema),
  saml: moduleReads(schemas.samlSchema),
  ipRestriction: moduleReads(schemas.ipRestrictionSchema),
  webhookVerification: moduleReads(schemas.webhookVerificationSchema),
  compression: moduleReads(schemas.compressionSchema),
  trafficPolicy: moduleReads(schemas.trafficPolicySchema),
  mutualTLS: moduleReads(schemas.mutualTLSSchema),
  tlsTermination: moduleReads(schemas.tlsTerminationSchema),
};

function readable<T extends { readonly id: string }>(
  transport: Transport,
  collection: string,
  { one, many }: Pick<CollectionReads<T>, 'one' | 'many'>,
): Readable<T> {
  const name = `${collection}.list`;
  const listPage = (query: string, call: Call) => {
    const path = query === '' ? `/${collection}` : `/${collection}?${query}`;
    return transport.send({ name, method: 'GET', path, read: many }, call);
  };
  const pages = (call: Call, { pageSize = defaultPageSize }: PageOptions = {}) =>
    allPages(name, queryText({ limit: pageSize }), (query) => listPage(query, call));
  return {
    get: async (id, call) =>
      transport.send({ ...named(collection, 'get', collection, id), method: 'GET', read: only(id, one) }, call),
    list: (query, call) => listPage(queryText(query), call),
    pages,
    listAll: (call, options) => itemsOf(pages(call, options), options?.onOdd),
  };
}

function writable<T extends { readonly id: string }, Create extends object, Update extends object>(
  transport: Transport,
  collection: string,
  reads: CollectionReads<T>,
): Writable<T, Create, Update> {
  const { created, updated } = reads;
  const at = (verb: string, ...id: readonly string[]) => named(collection, verb, collection, ...id);
  return {
    ...readable(transport, collection, reads),
    create: (fields, call) => transport.send({ ...at('create'), method: 'POST', body: fields, read: created }, call),
    update: async (id, fields, call) =>
      transport.send({ ...at('update', id), method: 'PATCH', body: fields, read: only(id, updated) }, call),
    delete: async (id, call) =>
      isDotSegment(id) ? 'absent' : transport.send({ ...at('delete', id), method: 'DELETE', read: deleted }, call),
  };
}

/** What stands in between may mix answers up: nobody is shown another one's object. */
function only<T extends { readonly id: string } | undefined>(id: string, read: Read<T>): Read<T> {
  return (answer) => {
    const found = read(answer);
    if (found !== undefined && found.id !== id) throw malformed(answer, "id: is another one's");
    return found;
  };
}

/** `segments` names the module's path for a parent; one that holds a secret is spoken of by code and status alone. */
function module<Parent, T, Replace extends object>(
  transport: Transport,
  { resource, isSecret }: { readonly resource: string; readonly isSecret: boolean },
  { one, replaced }: ModuleReads<T>,
  segments: (parent: Parent) => readonly string[],
): Module<Parent, T, Replace> {
  const at = (verb: string, parent: Parent) => ({ ...named(resource, verb, ...segments(parent)), isSecret });
  return {
    replace: async (parent, fields, call) =>
      transport.send({ ...at('replace', parent), method: 'PUT', body: fields, read: replaced }, call),
    get: async (parent, call) => transport.send({ ...at('get', parent), method: 'GET', read: one }, call),
    delete: async (parent, call) =>
      segments(parent).some(isDotSegment)
        ? 'absent'
        : transport.send({ ...at('delete', parent), method: 'DELETE', read: deleted }, call),
  };
}

/** Which operation, and where. Throws an ApiError for an id that cannot be in a path. */
function named(resource: string, verb: string, ...segments: readonly string[]) {
  const name = `${resource}.${verb}`;
  return { name, path: pathOf(name, ...segments) };
}

function queryText({ limit, before_id }: ListQuery): string {
  const query = new URLSearchParams();
  if (limit !== undefined) query.set('limit', String(limit));
  if (before_id !== undefined) query.set('before_id', before_id);
  return query.toString();
}

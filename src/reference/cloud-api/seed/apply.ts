import { Collection, type Kind, kinds } from '../collection.ts';
import { transaction } from '../database.ts';
import { endpointCollection, reviseEndpoint } from '../endpoints.ts';
import { moduleCollection, moduleId, moduleIds } from '../modules/operations.ts';
import type { HttpsEdgeRecord, HttpsRouteRecord } from '../modules/parents.ts';
import { SetupError } from '../setup-error.ts';
import type { World } from '../world.ts';
import { checkSeed } from './read.ts';
import type { EndpointSeed, ReadSeed, Seed } from './schema.ts';

const listed = {
  endpoint_configurations: kinds.endpointConfiguration,
  ip_policies: kinds.ipPolicy,
  certificate_authorities: kinds.certificateAuthority,
  reserved_domains: kinds.domain,
  tls_edges: kinds.tlsEdge,
} as const;

/**
 * Lays the seed for its accounts, whole or not at all. What is there already is brought up to the seed and keeps its
 * place, its modules and its times; what the seed does not name is left alone.
 *
 * @throws SetupError naming the path that is wrong.
 */
export function applySeed(world: World, seed: Seed, accounts: readonly string[]): void {
  const wanted = checkSeed(seed, 'seed');
  const stranger = wanted.accounts?.find((name) => !accounts.includes(name));
  if (stranger !== undefined) throw new SetupError('seeds', `seed: accounts: no API key opens account ${stranger}`);
  transaction(world.database, () => {
    for (const account of wanted.accounts ?? accounts) seedAccount(world, wanted, account);
  });
}

/** Takes an object of any kind away; false when there was none. */
export function removeSeeded(world: World, account: string, id: string): boolean {
  for (const module of moduleIds(id)) moduleCollection(world).remove(account, module);
  return Object.values(kinds).some((kind) => new Collection(world.statements, kind).remove(account, id));
}

function seedAccount(world: World, seed: ReadSeed, account: string): void {
  for (const [field, kind] of Object.entries(listed)) {
    const collection = new Collection(world.statements, kind);
    for (const id of seed[field as keyof typeof listed]) collection.put(account, { id });
  }
  for (const edge of seed.https_edges) seedHttpsEdge(world, edge, account);
  seedEndpoints(world, seed.endpoints, account);
}

/** A new edge that says where it terminates has the module that shows so. */
function seedHttpsEdge(world: World, seed: ReadSeed['https_edges'][number], account: string): void {
  const edges = new Collection<HttpsEdgeRecord>(world.statements, kinds.httpsEdge);
  const routes = new Collection<HttpsRouteRecord>(world.statements, kinds.httpsRoute);
  if (seed.terminate_at !== undefined && edges.get(account, seed.id) === undefined) {
    const id = moduleId(seed.id, 'tls_termination');
    moduleCollection(world).put(account, { id, stored: { enabled: true, min_version: null } });
  }
  edges.put(account, { id: seed.id, terminateAt: seed.terminate_at ?? 'edge' });
  for (const id of seed.routes) routes.put(account, { id, edgeId: seed.id });
}

function seedEndpoints(world: World, endpoints: readonly EndpointSeed[], account: string): void {
  const has = (kind: Kind, id: string | undefined) =>
    id === undefined || new Collection(world.statements, kind).get(account, id) !== undefined;
  const collection = endpointCollection(world);
  for (const [index, endpoint] of endpoints.entries()) {
    const fail = (field: 'edge' | 'domain') => {
      throw new SetupError(
        'seeds',
        `seed: endpoints[${index}].${field}: no ${field} with id ${endpoint[field]} is seeded`,
      );
    };
    if (!has(kinds.httpsEdge, endpoint.edge) && !has(kinds.tlsEdge, endpoint.edge)) fail('edge');
    if (!has(kinds.domain, endpoint.domain)) fail('domain');
    const before = collection.get(account, endpoint.id);
    collection.put(account, reviseEndpoint(endpointRecord(endpoint), before, world.now()));
  }
}

const endpointRecord = (seed: EndpointSeed) => ({
  id: seed.id,
  region: seed.region,
  publicUrl: seed.public_url,
  proto: seed.proto,
  hostport: seed.hostport,
  type: seed.type,
  metadata: seed.metadata,
  domainId: seed.domain,
  tcpAddrId: seed.tcp_addr,
  tunnelId: seed.tunnel,
  edgeId: seed.edge,
});

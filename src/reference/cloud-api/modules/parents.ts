import { Collection, kinds } from '../collection.ts';
import type { ApiRequest } from '../operation.ts';
import { ApiProblem } from '../problem.ts';
import type { World } from '../world.ts';

/** An HTTPS edge as stored: what decides about its modules. */
export interface HttpsEdgeRecord {
  readonly id: string;
  readonly terminateAt: 'edge' | 'upstream';
}

export interface HttpsRouteRecord {
  readonly id: string;
  readonly edgeId: string;
}

/** What a module is attached to. */
export interface Parent {
  readonly id: string;
  readonly terminateAt: 'edge' | 'upstream';
}

export type ParentKind = 'httpsRoute' | 'httpsEdge' | 'tlsEdge';

export interface ParentType {
  /** In the ids of operations. */
  readonly name: string;
  readonly path: string;
  /** @throws ApiProblem 404 when there is none. */
  readonly find: (request: ApiRequest) => Parent;
}

/** Where the parents of modules are found (Cloud Management API, section 4). A route: under its own edge only. */
export function parentTypes(world: World): Readonly<Record<ParentKind, ParentType>> {
  const edges = new Collection<HttpsEdgeRecord>(world.statements, kinds.httpsEdge);
  const routes = new Collection<HttpsRouteRecord>(world.statements, kinds.httpsRoute);
  const tlsEdges = new Collection(world.statements, kinds.tlsEdge);
  const httpsEdge = (request: ApiRequest, id = '') => edges.get(request.account, id) ?? unknown('HTTPS edge', id);
  return {
    httpsEdge: {
      name: 'https_edge',
      path: '/edges/https/:id',
      find: (request) => httpsEdge(request, request.params.id),
    },
    tlsEdge: {
      name: 'tls_edge',
      path: '/edges/tls/:id',
      find: ({ account, params: { id = '' } }) => ({
        id: (tlsEdges.get(account, id) ?? unknown('TLS edge', id)).id,
        terminateAt: 'edge',
      }),
    },
    httpsRoute: {
      name: 'https_route',
      path: '/edges/https/:edge_id/routes/:id',
      find: (request) => {
        const { id = '', edge_id } = request.params;
        const edge = httpsEdge(request, edge_id);
        const route = routes.get(request.account, id);
        if (route?.edgeId !== edge.id) return unknown('route of this edge', id);
        return { id, terminateAt: edge.terminateAt };
      },
    },
  };
}

function unknown(what: string, id: string): never {
  throw new ApiProblem('resourceUnknown', `no ${what} with id "${id}"`);
}

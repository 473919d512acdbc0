import { surroundings } from '../core/surroundings.ts';
import type { CastResource } from './scene.ts';

/** Where the API of the cloud has the modules of one of the routes of the surroundings. */
export function routePath(edge: number): string {
  const { id, routes } = edgeAt(edge);
  return `/edges/https/${id}/routes/${routes[0]}`;
}

export const httpsEdgePath = (edge: number): string => `/edges/https/${edgeAt(edge).id}`;

export const tlsEdgePath = (edge: number): string => `/edges/tls/${surroundings.tlsEdges[edge]}`;

function edgeAt(edge: number) {
  const found = surroundings.httpsEdges[edge];
  if (found === undefined) throw new Error(`there is no edge ${edge}`);
  return found;
}

/** Of a set of modules, by the ids in its spec. */
export function pathOfModules({ kind, spec }: Pick<CastResource, 'kind' | 'spec'>): string {
  if (kind === 'TlsEdgeTrafficPolicy') return `/edges/tls/${spec.edgeID}`;
  const edge = `/edges/https/${spec.edgeID}`;
  return kind === 'HttpsRouteModules' ? `${edge}/routes/${spec.routeID}` : edge;
}

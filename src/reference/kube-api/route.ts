import { badRequest } from './api-error.ts';

/** What a path names: `/api/v1/...` or `/apis/<group>/<version>/...`. */
export interface Route {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** The parts of a resource path, or undefined when the path is none. @throws ApiError */
export function parseRoute(path: string): Route | undefined {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decoded);
  const [root] = parts;
  if (root === 'api' && parts.length > 2) return resource('', parts[1] ?? '', parts.slice(2));
  if (root === 'apis' && parts.length > 3) return resource(parts[1] ?? '', parts[2] ?? '', parts.slice(3));
  return undefined;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw badRequest('the path is malformed');
  }
}

function resource(group: string, version: string, parts: readonly string[]): Route | undefined {
  const namespaced = parts[0] === 'namespaces' && parts.length > 2 && !isNamespaceSubresource(parts);
  const [plural = '', name, subresource, ...more] = namespaced ? parts.slice(2) : parts;
  if (more.length > 0) return undefined;
  return { group, version, plural, namespace: namespaced ? parts[1] : undefined, name, subresource };
}

function isNamespaceSubresource(parts: readonly string[]): boolean {
  return parts.length === 3 && (parts[2] === 'status' || parts[2] === 'finalize');
}

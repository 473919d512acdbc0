import { z } from 'zod';
import { readBody } from './body.ts';
import { afterExpiry, endpointCollection, protocols, renderEndpoint, reviseEndpoint } from './endpoints.ts';
import { hostport, idOf, metadata, region, uri } from './fields.ts';
import type { ApiRequest, Route } from './operation.ts';
import { ApiProblem } from './problem.ts';
import type { World } from './world.ts';

/** How long an endpoint outlives the last word of its agent. */
const leaseMs = 30_000;

const leaseBody = z.strictObject({
  public_url: uri,
  proto: z.enum(protocols),
  hostport,
  region,
  metadata: metadata.optional(),
  tunnel: idOf('tn'),
});

/**
 * Where agents report the endpoints that they serve: PUT makes one active, as `ephemeral`, for 30 s, and again each
 * time it is repeated; DELETE ends it. An extension of this server, no part of the Cloud Management API: agents of the
 * real service report over a protocol of their own.
 */
export function endpointLeases(world: World): readonly Route[] {
  const collection = endpointCollection(world);
  const path = '/_agent/endpoints/:id';
  const put = (request: ApiRequest) => {
    const id = readId(request);
    const before = collection.get(request.account, id);
    if (before !== undefined && before.expiresAt === undefined) {
      throw new ApiProblem('leaseTaken', `endpoint "${id}" is not one of an agent; take another id`);
    }
    const { public_url, tunnel, ...body } = readBody(leaseBody, request.body);
    const expiresAt = world.clock.now() + leaseMs;
    const wanted = { ...body, id, publicUrl: public_url, tunnelId: tunnel, type: 'ephemeral' as const, expiresAt };
    const record = reviseEndpoint(wanted, before, world.now());
    collection.put(request.account, record);
    return renderEndpoint(record, request.base);
  };
  const remove = (request: ApiRequest) => {
    const id = readId(request);
    if (collection.get(request.account, id)?.expiresAt === undefined) {
      throw new ApiProblem('resourceUnknown', `no agent serves an endpoint with id "${id}"`);
    }
    collection.remove(request.account, id);
  };
  const routes: readonly Route[] = [
    { method: 'PUT', path, status: 200, handle: put },
    { method: 'DELETE', path, status: 204, handle: remove },
  ];
  return routes.map((route) => afterExpiry(route, collection, world.clock));
}

function readId({ params: { id } }: ApiRequest): string {
  const read = idOf('ep').safeParse(id);
  if (read.success) return read.data;
  throw new ApiProblem('fieldInvalid', `the id in the path ${read.error.issues[0]?.message}`);
}

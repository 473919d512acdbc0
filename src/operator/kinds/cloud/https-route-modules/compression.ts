import type { CloudClient } from '../../../cloud/client.ts';
import type { Compression, CompressionReplace } from '../../../cloud/schemas.ts';
import type { Part } from '../../../reconcile/parts/part.ts';
import type { Spec } from './schema.ts';

export const compression: Part<Spec, CloudClient, CompressionReplace, Compression> = {
  name: 'compression',
  condition: 'CompressionReady',
  displayName: 'compression module',
  desired: async ({ compression: part }) => part && { enabled: part.enabled },
  diff: (body, found) => (body.enabled === found.enabled ? [] : ['enabled']),
  status: () => ({}),
  get: (cloud, route, call) => cloud.routeModules.compression.get(route, call),
  replace: (cloud, route, body, call) => cloud.routeModules.compression.replace(route, body, call),
  delete: (cloud, route, call) => cloud.routeModules.compression.delete(route, call),
};

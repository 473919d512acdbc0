import type { FastifyRequest } from 'fastify';

/** Paths of test control begin so; none of the API does. */
export const controlPrefix = '/_';

/** Whether the request is one to test control itself, which no key, fault, limit or journal applies to. */
export const isControl = (request: FastifyRequest): boolean =>
  request.routeOptions.url?.startsWith(controlPrefix) ?? false;

export const pathOf = (request: FastifyRequest): string => request.url.split('?', 1)[0] ?? '/';

import type { Access } from '../deploy/access.ts';

/** A line of the API server's audit log, as far as it matters here. */
export interface AuditEvent {
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string; readonly extra?: Readonly<Record<string, readonly string[]>> };
  readonly userAgent?: string;
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly apiGroup?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
}

export interface Account {
  readonly namespace: string;
  readonly name: string;
}

/** What a ServiceAccount asked for. */
export function askedBy(events: readonly AuditEvent[], { namespace, name }: Account): readonly AuditEvent[] {
  return events.filter(({ user }) => user.username === `system:serviceaccount:${namespace}:${name}`);
}

/** Undefined for what is no resource, such as `/version`. */
export function accessIn({ verb, objectRef }: AuditEvent): Access | undefined {
  if (objectRef?.resource === undefined) return undefined;
  const { resource, subresource, apiGroup: group = '', namespace, name } = objectRef;
  return {
    verb,
    group,
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  };
}

/** What was refused for want of a right, as text, each once. */
export function refusedIn(events: readonly AuditEvent[]): readonly string[] {
  const refused = events.filter(({ responseStatus }) => responseStatus?.code === 403 || responseStatus?.code === 401);
  return [...new Set(refused.map(({ verb, requestURI }) => `${verb} ${requestURI}`))];
}

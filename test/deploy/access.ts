import type { Rendered } from './helm.ts';

/** A request to the Kubernetes API as its authorizer sees it. */
export interface Access {
  readonly verb: string;
  readonly group: string;
  /** With the subresource, as roles have it: `agents/status`. */
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
}

const pattern =
  /^\/(?:api\/v1|apis\/(?<group>[^/]+)\/[^/]+)(?:\/namespaces\/(?<namespace>[^/]+)(?=\/))?\/(?<resource>[^/]+)(?:\/(?<name>[^/]+))?(?:\/(?<sub>[^/]+))?$/;

/** As RequestInfo of k8s.io/apiserver reads it; undefined for what is no resource. */
export function accessOf(method: string, url: string): Access | undefined {
  const { pathname, searchParams } = new URL(url, 'http://api');
  const found = pattern.exec(pathname)?.groups;
  if (found?.resource === undefined) return undefined;
  const { group = '', resource, sub } = found;
  // A namespace is in itself: a Role there may grant it.
  const namespace = resource === 'namespaces' ? found.name : found.namespace;
  // A list or watch of one object, by field selector, may be granted by its name.
  const selected = /(?:^|,)metadata\.name=([^,]+)/.exec(searchParams.get('fieldSelector') ?? '')?.[1];
  const name = found.name ?? selected;
  return {
    verb: verbOf(method, found.name !== undefined, searchParams.get('watch') === 'true'),
    group,
    resource: sub === undefined ? resource : `${resource}/${sub}`,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  };
}

function verbOf(method: string, named: boolean, watch: boolean): string {
  if (method === 'GET') return named ? 'get' : watch ? 'watch' : 'list';
  if (method === 'DELETE') return named ? 'delete' : 'deletecollection';
  return { POST: 'create', PUT: 'update', PATCH: 'patch' }[method] ?? method;
}

interface Grant {
  readonly role: string;
  /** Undefined: everywhere. */
  readonly namespace: string | undefined;
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  readonly names: readonly string[] | undefined;
}

/** What roles grant a service account, as RBAC reads them, and what of it was used. */
export class Grants {
  readonly #grants: readonly Grant[];
  readonly #used = new Set<string>();

  constructor(objects: readonly Rendered[], account: string) {
    const bindings = objects.filter(
      ({ kind, subjects }) =>
        kind.endsWith('RoleBinding') && subjects.some(({ name }: { name: string }) => name === account),
    );
    this.#grants = bindings.flatMap((binding) => grantsOf(binding, objects));
  }

  /** Whether it is granted, and marks by what. */
  allows(access: Access): boolean {
    const granting = this.#grants.filter((grant) => grants(grant, access));
    for (const grant of granting) this.#used.add(textOf(grant));
    return granting.length > 0;
  }

  /** Rules that no access has needed; the same rule in several namespaces is one. */
  unused(): readonly string[] {
    return [...new Set(this.#grants.map(textOf))].filter((text) => !this.#used.has(text)).sort();
  }
}

function grantsOf(binding: Rendered, objects: readonly Rendered[]): readonly Grant[] {
  const { roleRef, metadata } = binding;
  const role = objects.find(
    ({ kind, metadata: { name, namespace } }) =>
      kind === roleRef.kind && name === roleRef.name && (kind === 'ClusterRole' || namespace === metadata.namespace),
  );
  if (role === undefined)
    throw new Error(`${binding.kind} ${metadata.name}: there is no ${roleRef.kind} ${roleRef.name}`);
  return (role.rules as readonly Rule[]).flatMap(({ apiGroups, resources, verbs, resourceNames: names }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.map((verb) => ({ role: roleRef.name, namespace: metadata.namespace, group, resource, verb, names })),
      ),
    ),
  );
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

function grants(grant: Grant, { verb, group, resource, namespace, name }: Access): boolean {
  const matches = grant.verb === verb && grant.group === group && grant.resource === resource;
  const inScope = grant.namespace === undefined || grant.namespace === namespace;
  const named = grant.names === undefined || (name !== undefined && verb !== 'create' && grant.names.includes(name));
  return matches && inScope && named;
}

function textOf({ role, group, resource, verb }: Grant): string {
  return `${role}: ${verb} ${resource}${group === '' ? '' : `.${group}`}`;
}

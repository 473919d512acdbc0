import { definitions } from '../kinds/index.ts';
import type { KubeConnection } from '../kube/connection.ts';
import { isNothingThere } from '../kube/errors.ts';
import { apiGroup } from '../reconcile/kind.ts';
import { ask } from './ask.ts';
import type { Check, Finding } from './check.ts';

/** What the API server is asked whether it is allowed. */
export interface Right {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  /** Undefined: everywhere. */
  readonly namespace: string | undefined;
  readonly name?: string;
}

interface Review {
  readonly status?: { readonly allowed: boolean };
}

export interface RightsOptions {
  readonly connection: KubeConnection;
  /** Empty: all. */
  readonly watchNamespaces: readonly string[];
  readonly ownNamespace: string;
  /** Of the default account's endpoints; undefined: there is none. */
  readonly mirrorNamespace: string | undefined;
  readonly shards: number;
}

/** Whether whoever asks may do all that the operator does whatever resources there are. */
export function rightsCheck({ connection, ...where }: RightsOptions): Check {
  return {
    name: 'rights',
    run: async () => {
      const rights = neededRights(where);
      const refused = await refusedOf(connection, rights);
      return refused === undefined
        ? { at: 'nothing: this API server asks for none', findings: [] }
        : { at: `${rights.length} of them`, findings: refused.map((right) => findingOf(right, connection.inCluster)) };
    },
  };
}

/** As the chart grants them by default. */
export function neededRights(options: Omit<RightsOptions, 'connection'>): readonly Right[] {
  const { watchNamespaces, ownNamespace, mirrorNamespace, shards } = options;
  const watched = watchNamespaces.length === 0 ? [undefined] : watchNamespaces;
  const leases = { group: 'coordination.k8s.io', resource: 'leases', namespace: ownNamespace };
  const configMaps = { group: '', resource: 'configmaps', namespace: mirrorNamespace };
  return [
    ...watched.flatMap(rightsIn),
    ...(mirrorNamespace === undefined ? [] : mirrorVerbs.map((verb) => ({ verb, ...configMaps }))),
    { verb: 'create', ...leases },
    ...leaseNames(shards).flatMap((name) => ['get', 'update'].map((verb) => ({ verb, ...leases, name }))),
    { verb: 'get', group: '', resource: 'namespaces', namespace: ownNamespace, name: ownNamespace },
  ];
}

const mirrorVerbs = ['get', 'list', 'watch', 'create', 'update', 'delete'];

function leaseNames(shards: number): readonly string[] {
  const ofShards = Array.from({ length: shards }, (_, shard) => `edge-operator-${shard}`);
  return ['edge-operator', 'edge-operator-budget', ...(shards === 1 ? [] : ofShards)];
}

function rightsIn(namespace: string | undefined): readonly Right[] {
  const to = (group: string, resource: string, ...verbs: readonly string[]) =>
    verbs.map((verb): Right => ({ verb, group, resource, namespace }));
  return [
    ...definitions.flatMap(({ type: { plural } }) => [
      ...to(apiGroup, plural, 'get', 'list', 'watch', 'patch'),
      { verb: 'patch', group: apiGroup, resource: plural, subresource: 'status', namespace },
    ]),
    ...to(apiGroup, 'requestreplays', 'delete'),
    ...to('', 'configmaps', 'list', 'watch'),
    ...to('', 'services', 'get'),
    ...to('discovery.k8s.io', 'endpointslices', 'list'),
    ...to('events.k8s.io', 'events', 'create', 'patch'),
  ];
}

/** Undefined where the API server does not know the question. */
async function refusedOf(connection: KubeConnection, rights: readonly Right[]): Promise<readonly Right[] | undefined> {
  try {
    const allowed = await Promise.all(rights.map((right) => isAllowed(connection, right)));
    return rights.filter((_, index) => !allowed[index]);
  } catch (error) {
    if (isNothingThere(error)) return undefined;
    throw error;
  }
}

async function isAllowed(connection: KubeConnection, resourceAttributes: Right): Promise<boolean> {
  const review = await ask<Review>(connection, {
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes },
    },
    doing: 'asking for a right',
  });
  return review.status?.allowed === true;
}

/** @param inCluster whoever asks has the rights of a pod, as the operator has */
function findingOf({ verb, group, resource, subresource, namespace, name }: Right, inCluster: boolean): Finding {
  const what = [resource, subresource].filter(Boolean).join('/') + (group === '' ? '' : `.${group}`);
  const where = namespace === undefined ? 'in all namespaces' : `in namespace ${namespace}`;
  const problem = `may not ${verb} ${what}${name === undefined ? '' : ` ${name}`} ${where}`;
  if (inCluster)
    return { problem, cure: 'bring the roles of this version along, with helm upgrade or kubectl apply -k deploy' };
  return {
    problem: `whoever runs doctor ${problem}`,
    cure: "these are your rights, not the operator's: look at those with helm test, or with doctor in its pod",
  };
}

import { definition as cloudAccount, type Spec } from '../kinds/cloud/cloud-account/schema.ts';
import { definitions } from '../kinds/index.ts';
import type { KubeClient } from '../kube/client.ts';
import type { KubeConnection } from '../kube/connection.ts';
import { isForbidden, isNothingThere } from '../kube/errors.ts';
import type { KubeObject } from '../kube/types.ts';
import { apiGroup } from '../reconcile/kind.ts';
import { allOf } from './all-of.ts';
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
  readonly client: Pick<KubeClient, 'listAll'>;
  /** Empty: all. */
  readonly watchNamespaces: readonly string[];
  readonly ownNamespace: string;
  /** Of the default account's endpoints; undefined: there is none. */
  readonly mirrorNamespace: string | undefined;
  readonly shards: number;
}

interface CloudAccount extends KubeObject {
  readonly spec: Pick<Spec, 'apiKeySecretRef'> & { readonly endpointMirror?: { readonly enabled?: boolean } };
}

/**
 * Whether whoever asks may do all that the operator does whatever resources there are, and what the CloudAccounts that there are need
 * besides. What other resources name (the Secret of a webhook, SAML metadata) is not asked for.
 */
export function rightsCheck({ connection, client, ...where }: RightsOptions): Check {
  return {
    name: 'rights',
    run: async () => {
      const accounts = await accountsIn(client, where.watchNamespaces);
      const always = neededRights(where);
      const rights = withoutRepeats([...always, ...accounts.flatMap(rightsOf)]);
      const refused = await refusedOf(connection, rights);
      return refused === undefined
        ? { at: 'nothing: this API server asks for none', findings: [] }
        : {
            at: `${rights.length} of them`,
            findings: refused.map((right) => findingOf(right, connection.inCluster, always.includes(right))),
          };
    },
  };
}

/** As the chart grants them by default. */
export function neededRights(options: Omit<RightsOptions, 'connection' | 'client'>): readonly Right[] {
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

/** None where they may not be listed, which is among the rights that are asked for, or are not served. */
async function accountsIn(
  client: RightsOptions['client'],
  watchNamespaces: readonly string[],
): Promise<readonly CloudAccount[]> {
  const listed = (watchNamespaces.length === 0 ? [undefined] : watchNamespaces).map(async (namespace) => {
    try {
      return (await client.listAll<CloudAccount>(cloudAccount.type, { namespace })).items;
    } catch (error) {
      if (isForbidden(error) || isNothingThere(error)) return [];
      throw error;
    }
  });
  return (await allOf(listed)).flat();
}

/** To read its key, and keep the Secret while it is needed; and to mirror. */
function rightsOf({ metadata: { namespace }, spec }: CloudAccount): readonly Right[] {
  const secret = { group: '', resource: 'secrets', namespace, name: spec.apiKeySecretRef.name };
  const isMirroring = spec.endpointMirror !== undefined && spec.endpointMirror.enabled !== false;
  return [
    ...['list', 'watch', 'patch'].map((verb) => ({ verb, ...secret })),
    ...(isMirroring ? mirrorVerbs.map((verb) => ({ verb, group: '', resource: 'configmaps', namespace })) : []),
  ];
}

/** The first of those that are the same. */
function withoutRepeats(rights: readonly Right[]): readonly Right[] {
  return [...Map.groupBy(rights, keyOf).values()].flatMap(([first]) => first ?? []);
}

function keyOf({ verb, group, resource, subresource, namespace, name }: Right): string {
  return JSON.stringify([verb, group, resource, subresource, namespace, name]);
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
    const allowed = await allOf(rights.map((right) => isAllowed(connection, right)));
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

/**
 * @param inCluster whoever asks has the rights of a pod, as the operator has
 * @param isAlways it is granted whatever resources there are
 */
function findingOf(right: Right, inCluster: boolean, isAlways: boolean): Finding {
  const { verb, group, resource, subresource, namespace, name } = right;
  const what = [resource, subresource].filter(Boolean).join('/') + (group === '' ? '' : `.${group}`);
  const where = namespace === undefined ? 'in all namespaces' : `in namespace ${namespace}`;
  const problem = `may not ${verb} ${what}${name === undefined ? '' : ` ${name}`} ${where}`;
  if (inCluster) return { problem, cure: isAlways ? bringRoles : grantFor(right) };
  return {
    problem: `whoever runs doctor ${problem}`,
    cure: "these are your rights, not the operator's: look at those with helm test, or with doctor in its pod",
  };
}

const bringRoles = 'bring the roles of this version along, with helm upgrade or kubectl apply -k deploy';

/** What a CloudAccount needs is granted where somebody says so. */
function grantFor({ resource }: Right): string {
  return resource === 'secrets'
    ? 'a CloudAccount needs it: rbac.secrets or rbac.secretNames of the chart, or a role of your own (docs/install.md)'
    : 'a CloudAccount that mirrors needs it: endpointMirror.cloudAccounts of the chart';
}

import type { Act, Manifest, ObjectRef } from '../core/story.ts';
import { keyOf } from './cloud-keys.ts';
import { type CastAccount, type CastResource, secretOf } from './scene.ts';
import type { JsonMap } from './specs/schemas.ts';

/** As the documentation of the operator names them. */
export const note = {
  externalID: 'edge-operator.dev/external-id',
  createdID: 'edge-operator.dev/created-id',
  createIntent: 'edge-operator.dev/create-intent',
  account: 'edge-operator.dev/account',
  appliedParts: 'edge-operator.dev/applied-parts',
  recordOf: 'edge-operator.dev/record-of',
  paused: 'edge-operator.dev/paused',
  reconcileAt: 'edge-operator.dev/reconcile-at',
} as const;

type Notes = Readonly<Record<string, string | null>>;
type Named = ObjectRef;
type InNamespace = Pick<CastResource, 'namespace' | 'name'>;

export const apiVersion = 'edge-operator.dev/v1alpha1';

export const refOf = ({ kind, namespace, name }: Named): ObjectRef => ({
  kind,
  ...(namespace === undefined ? {} : { namespace }),
  name,
});

/** As texts of acts name the id of a resource. */
export const idOf = ({ kind, namespace, name }: Named, which: 'id' | 'made' = 'id'): string =>
  `{{${which}:${kind}/${namespace}/${name}}}`;

export const uidOf = ({ kind, namespace, name }: Named): string => `{{uid:${kind}/${namespace}/${name}}}`;

export const foreignID = (name: string): string => `{{foreign:${name}}}`;

type Content = Pick<CastResource, 'kind' | 'namespace' | 'name' | 'spec' | 'annotations'>;

export function manifestOf({ kind, namespace, name, annotations, spec }: Content): Manifest {
  return { apiVersion, kind, metadata: { name, namespace, ...(annotations && { annotations }) }, spec };
}

export const manifestOfAccount = (account: CastAccount): Manifest => manifestOf({ kind: 'CloudAccount', ...account });

/** The Secret that a CloudAccount reads, with the right key unless another is given. */
export function keySecret(account: CastAccount, key: string = keyOf(account.holds)): Manifest {
  const { namespace } = account;
  return secret({ namespace, name: secretOf(account) }, { 'api-key': key });
}

export const secret = ({ namespace, name }: InNamespace, stringData: JsonMap): Manifest => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace },
  stringData,
});

export const configMap = ({ namespace, name }: InNamespace, data: JsonMap): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data,
});

export const apply = (at: number, object: Manifest): Act => ({ at, do: 'apply', object });

export const refused = (at: number, object: Manifest): Act => ({ at, do: 'apply', object, refused: true });

export const replace = (at: number, object: Manifest): Act => ({ at, do: 'replace', object });

export const remove = (at: number, of: Named): Act => ({ at, do: 'delete', ref: refOf(of) });

/** null takes an annotation away. */
export const annotate = (at: number, of: Named, annotations: Notes): Act => ({
  at,
  do: 'patch',
  ref: refOf(of),
  patch: { metadata: { annotations } },
});

/** All of them; whoever updates a resource whole may keep its finalizers. */
export const wipeAnnotations = (at: number, of: Named): Act => ({
  at,
  do: 'patch',
  ref: refOf(of),
  patch: { metadata: { annotations: null } },
});

/** A merge patch of the spec. */
export const edit = (at: number, of: Named, spec: object): Act => ({
  at,
  do: 'patch',
  ref: refOf(of),
  patch: { spec },
});

/** Of what can never be changed. */
export const refusedEdit = (at: number, of: Named, spec: object): Act => ({
  at,
  do: 'patch',
  ref: refOf(of),
  patch: { spec },
  refused: true,
});

export const wipeStatus = (at: number, of: Named): Act => ({
  at,
  do: 'patch',
  ref: refOf(of),
  patch: { status: null },
  subresource: 'status',
});

export const setBack = (at: number, of: Named, asOf: number): Act => ({ at, do: 'set-back', ref: refOf(of), asOf });

export const stop = (at: number, installation: string): Act => ({ at, do: 'stop', installation });

export const start = (at: number, installation: string): Act => ({ at, do: 'start', installation });

interface ByHand {
  readonly key: string;
  readonly method: 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  readonly name?: string;
  readonly times?: number;
}

/** Somebody uses the API of the cloud. */
export const byHand = (at: number, call: ByHand): Act => ({ at, do: 'cloud', ...call });

import { type JsonMap, listOf, mapOf, omit } from '../json.ts';
import { type ApiObject, finalizersOf, withMeta } from '../object.ts';
import { nameColumn } from '../presentation/columns.ts';
import { crdErrors } from '../types/crd-errors.ts';
import { builtinType } from './builtin-type.ts';
import { anyObject, boolean, integer, list, listOfMaps, object, objectSchema, string } from './schemas.ts';

/** Holds a definition that is being deleted until its objects are gone. */
export const crdCleanup = 'customresourcecleanup.apiextensions.k8s.io';

const names = object('Names of the kind.', {
  plural: string('Plural name, in URLs.'),
  singular: string('Singular name, on the command line.'),
  kind: string('Name of the kind.'),
  listKind: string('Name of the kind of lists.'),
  shortNames: list('Short names for the command line.', string('A short name.'), {
    'x-kubernetes-list-type': 'atomic',
  }),
  categories: list('Groups for `kubectl get`, such as all.', string('A category.'), {
    'x-kubernetes-list-type': 'atomic',
  }),
});

const column = object('A column of kubectl get.', {
  name: string('Heading.'),
  type: string('OpenAPI type.'),
  format: string('OpenAPI format.'),
  description: string('For people.'),
  priority: integer('Columns above 0 are shown with -o wide.'),
  jsonPath: string('Where the value is.'),
});

const version = object('One version of the kind.', {
  name: string('Such as v1alpha1.'),
  served: boolean('Whether it is served.'),
  storage: boolean('Whether objects are stored in it; true for one version.'),
  deprecated: boolean('Whether a warning is sent.'),
  deprecationWarning: string('The text of the warning.'),
  schema: object('The schema of the version.', { openAPIV3Schema: anyObject('A structural schema.') }),
  subresources: anyObject('status and scale.'),
  additionalPrinterColumns: list('Columns of kubectl get.', column),
  selectableFields: list('Fields for field selectors.', object('A field.', { jsonPath: string('Where it is.') })),
});

export const crdType = builtinType({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  namespaced: false,
  hasStatus: true,
  tracksGeneration: true,
  schema: objectSchema('CustomResourceDefinition represents a resource that should be exposed on the API server.', {
    spec: object('What the definition says.', {
      group: string('API group.'),
      names,
      scope: string('Namespaced or Cluster.'),
      versions: list('Versions of the kind.', version),
      conversion: anyObject('How versions are converted.'),
      preserveUnknownFields: boolean('Deprecated.'),
    }),
    status: object('What became of it.', {
      conditions: {
        ...listOfMaps('NamesAccepted, Established, Terminating.', ['type'], anyObject('A condition.')),
        nullable: true,
      },
      acceptedNames: names,
      storedVersions: list('Versions that objects were ever stored in.', string('A version.')),
    }),
  }),
  allColumns: [nameColumn, { name: 'Created At', type: 'date', cell: ({ metadata }) => metadata.creationTimestamp }],
  behaviour: {
    emptyObject: { spec: { names: {} }, status: {} },
    prepare: prepareCrd,
    beforeDelete: withCleanup,
    validate: crdErrors,
    unconditionalUpdate: false,
  },
});

/** Fills in what the real server defaults: singular and list kind, the conversion strategy. */
function prepareCrd(crd: ApiObject, old: ApiObject | undefined): ApiObject {
  const spec = mapOf(crd.spec);
  const given = mapOf(spec.names);
  const kind = String(given.kind ?? '');
  return {
    ...crd,
    ...(old === undefined ? { status: initialStatus(listOf(spec.versions)) } : {}),
    spec: {
      ...omit(spec, 'preserveUnknownFields'),
      names: { singular: kind.toLowerCase(), listKind: `${kind}List`, ...given },
      versions: listOf(spec.versions),
      conversion: spec.conversion ?? { strategy: 'None' },
    },
  };
}

/** Until a controller has looked at it. */
function initialStatus(versions: readonly unknown[]): JsonMap {
  const stored = versions.map(mapOf).filter(({ storage }) => storage === true);
  const storedVersions = stored.map(({ name }) => name);
  return { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions };
}

/** Deleting a definition waits for its objects: the real server adds this finalizer at that moment. */
function withCleanup(crd: ApiObject): ApiObject {
  return withMeta(crd, { finalizers: [...new Set([...finalizersOf(crd), crdCleanup])] });
}

import { UndecodableError } from '../api-error.ts';
import { invalidValue, tooLong } from '../field-error.ts';
import { mapOf, omit, stringsOf } from '../json.ts';
import type { ApiObject } from '../object.ts';
import { fieldColumn, sizeColumn } from '../presentation/columns.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { type BuiltinSpec, builtinType } from './builtin-type.ts';
import { anyObject, boolean, integer, list, listOfMaps, object, objectSchema, string, stringMap } from './schemas.ts';

const core = (spec: Omit<BuiltinSpec, 'group' | 'version'>) => builtinType({ group: '', version: 'v1', ...spec });

const dataKey = /^[-._a-zA-Z0-9]+$/;
const badKey =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

function checkKeys(entry: ApiObject, field: string) {
  const bad = Object.keys(mapOf(entry[field])).filter((key) => !dataKey.test(key));
  return bad.map((key) => invalidValue(`${field}[${key}]`, key, badKey));
}

const maxDataBytes = 1024 * 1024;

/** The values alone count, as bytes. */
function checkSize(texts: unknown, base64: unknown) {
  const bytes = [
    ...Object.values(mapOf(texts)).map((text) => Buffer.byteLength(String(text))),
    ...Object.values(mapOf(base64)).map((text) => Buffer.byteLength(String(text), 'base64')),
  ];
  return bytes.reduce((sum, size) => sum + size, 0) > maxDataBytes ? [tooLong('[]', maxDataBytes)] : [];
}

function checkTwice({ data, binaryData }: ApiObject) {
  const twice = Object.keys(mapOf(data)).filter((key) => key in mapOf(binaryData));
  return twice.map((key) => invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData'));
}

function checkImmutable(object: ApiObject, old: ApiObject | undefined, fields: readonly string[]) {
  if (old?.immutable !== true) return [];
  const changed = ['immutable', ...fields].filter(
    (field) => JSON.stringify(object[field]) !== JSON.stringify(old[field]),
  );
  return changed.map((field) => ({
    reason: 'FieldValueForbidden',
    message: 'Forbidden: field is immutable when `immutable` is set',
    field,
  }));
}

const configMap = core({
  plural: 'configmaps',
  kind: 'ConfigMap',
  shortNames: ['cm'],
  schema: objectSchema('ConfigMap holds configuration data for pods to consume.', {
    data: stringMap('Data contains the configuration data.'),
    binaryData: stringMap('BinaryData contains the binary data, base64-encoded.'),
    immutable: boolean('If true, the data cannot be updated.'),
  }),
  columns: [sizeColumn('Data', 'data', 'binaryData')],
  behaviour: {
    prepare: (map) => {
      checkBase64('ConfigMap', map.binaryData);
      return map;
    },
    validate: (map, old) => [
      ...checkKeys(map, 'data'),
      ...checkKeys(map, 'binaryData'),
      ...checkTwice(map),
      ...checkSize(map.data, map.binaryData),
      ...checkImmutable(map, old, ['data', 'binaryData']),
    ],
  },
});

const secret = core({
  plural: 'secrets',
  kind: 'Secret',
  selectableFields: ['type'],
  schema: objectSchema('Secret holds secret data of a certain type.', {
    data: stringMap('Data contains the secret data, base64-encoded.'),
    stringData: stringMap('StringData is a write-only way to set data as plain text.'),
    type: string('Used to facilitate programmatic handling of secret data.'),
    immutable: boolean('If true, the data cannot be updated.'),
  }),
  columns: [fieldColumn('Type', '.type'), sizeColumn('Data', 'data')],
  behaviour: {
    prepare: (entry) => encodeStringData(entry),
    validate: (entry, old) => [
      ...checkKeys(entry, 'data'),
      ...(old !== undefined && old.type !== entry.type ? [invalidValue('type', entry.type, 'field is immutable')] : []),
      ...checkSize(undefined, entry.data),
      ...checkImmutable(entry, old, ['data']),
    ],
  },
});

function encodeStringData(entry: ApiObject): ApiObject {
  checkBase64('Secret', entry.data);
  const encoded = Object.entries(mapOf(entry.stringData)).map(([key, text]) => [
    key,
    Buffer.from(String(text)).toString('base64'),
  ]);
  const plain = { type: 'Opaque', ...omit(entry, 'stringData') } as ApiObject;
  if (encoded.length === 0) return plain;
  return { ...plain, data: { ...mapOf(entry.data), ...Object.fromEntries(encoded) } };
}

function checkBase64(kind: string, data: unknown): void {
  for (const text of Object.values(mapOf(data)).map(String)) {
    const at = text.search(/[^A-Za-z0-9+/=\n]/);
    if (at === -1 && text.length % 4 === 0) continue;
    const problem = `illegal base64 data at input byte ${at === -1 ? text.length : at}`;
    throw new UndecodableError(`${kind} in version "v1" cannot be handled as a ${kind}: ${problem}`);
  }
}

const namespaceConditions = listOfMaps(
  'Why a namespace is not gone yet.',
  ['type'],
  object('A condition of a namespace.', {
    type: string('Type of the condition.'),
    status: string('True, False or Unknown.'),
    reason: string('One word.'),
    message: string('For people.'),
    lastTransitionTime: string('When the status changed last.'),
  }),
);

const namespace = core({
  plural: 'namespaces',
  kind: 'Namespace',
  shortNames: ['ns'],
  namespaced: false,
  hasStatus: true,
  selectableFields: ['status.phase'],
  schema: objectSchema('Namespace provides a scope for names.', {
    spec: object('What the namespace is to be.', {
      finalizers: list('Finalizers that must be empty before the namespace is removed.', string('A finalizer.')),
    }),
    status: object('What the namespace is.', {
      phase: string('Active or Terminating.'),
      conditions: namespaceConditions,
    }),
  }),
  columns: [fieldColumn('Status', '.status.phase')],
  behaviour: { emptyObject: { spec: { finalizers: ['kubernetes'] }, status: {} }, prepare: prepareNamespace },
});

function prepareNamespace(entry: ApiObject, old: ApiObject | undefined): ApiObject {
  const labels = { ...entry.metadata.labels, 'kubernetes.io/metadata.name': entry.metadata.name ?? '' };
  const labelled = { ...entry, metadata: { ...entry.metadata, labels } };
  if (old !== undefined) return { ...labelled, spec: mapOf(entry.spec), status: mapOf(entry.status) };
  const finalizers = [...new Set([...stringsOf(mapOf(entry.spec).finalizers), 'kubernetes'])];
  return { ...labelled, spec: { finalizers }, status: { phase: 'Active' } };
}

const serviceAccount = core({
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  shortNames: ['sa'],
  schema: objectSchema('ServiceAccount is an identity for processes.', {
    automountServiceAccountToken: boolean('Whether pods get a token of this account.'),
    secrets: listOfMaps('Secrets that pods of this account may use.', ['name'], anyObject('Names a secret.')),
    imagePullSecrets: list('Secrets for pulling images.', anyObject('Names a secret.')),
  }),
  columns: [sizeColumn('Secrets', 'secrets')],
});

const servicePort = object('A port of a service.', {
  name: string('Name of the port.'),
  protocol: string('TCP, UDP or SCTP.', { default: 'TCP' }),
  appProtocol: string('Application protocol.'),
  port: integer('The port that is exposed.'),
  targetPort: { 'x-kubernetes-int-or-string': true, description: 'Number or name of the port on the pods.' },
  nodePort: integer('The port on each node.'),
});

const service = core({
  plural: 'services',
  kind: 'Service',
  shortNames: ['svc'],
  categories: ['all'],
  hasStatus: true,
  schema: objectSchema('Service is a named abstraction of a software service.', {
    spec: {
      ...anyObject('What the service is to be.'),
      properties: {
        type: string('ClusterIP, NodePort, LoadBalancer or ExternalName.'),
        ports: listOfMaps('Ports of the service.', ['port', 'protocol'], servicePort),
        selector: stringMap('Labels of the pods behind the service.'),
      },
    },
    status: anyObject('What the service is.'),
  }),
  columns: [fieldColumn('Type', '.spec.type')],
  behaviour: { emptyObject: { spec: {}, status: {} } },
});

export const coreV1: readonly ResourceType[] = [configMap, secret, namespace, serviceAccount, service];

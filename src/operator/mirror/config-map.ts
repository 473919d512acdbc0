import { hash } from 'node:crypto';
import type { Endpoint } from '../cloud/schemas.ts';
import type { InstallationNames } from '../kube/installation-name.ts';
import type { KubeObject, ObjectRef, OwnerReference } from '../kube/types.ts';

export { configMapType } from '../kube/types.ts';

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
  /** Of the content, which a {@link summary} does not keep. */
  readonly digest?: string;
  /** The content is not what a mirror writes under this name; of a summary. */
  readonly isAltered?: true;
}

/** Whose a mirrored ConfigMap is. */
export interface Maker {
  /** What the operator's installation is known by; operators of one write each other's. */
  readonly installation: InstallationNames;
  /** Key of the account, unique in the operator. */
  readonly account: string;
  /** With which the ConfigMaps go, when nobody is there to delete them. */
  readonly owner?: OwnerReference | undefined;
}

const mirroredBy = 'edge-operator.dev/mirrored-by';

const prefix = 'endpoint-';
const hashDigits = 10;
const markDigits = 22;
const maxName = 253;
const maxLabelValue = 63;

/** What tells an account's mirrored ConfigMaps from all others. An account key `namespace/name` reads `namespace.name`. */
export function mirrorLabels(account: string): Readonly<Record<string, string>> {
  return {
    'edge-operator.dev/mirror': 'endpoints',
    'edge-operator.dev/account': labelValue(account.replace('/', '.')),
  };
}

export function selectorOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join();
}

/** A DNS-1123 subdomain; the hash of the exact id keeps ids apart that differ only in case or punctuation. */
export function endpointName(id: string): string {
  const suffix = hashOf(id);
  const readable = id
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, maxName - prefix.length - suffix.length - 1)
    .replace(/^-|-$/g, '');
  return readable === '' ? prefix + suffix : `${prefix}${readable}-${suffix}`;
}

/** Whether a mirror may have given this name: a copy under another one is not the mirror's. */
export function isEndpointName(name: string): boolean {
  return new RegExp(`^${prefix}([a-z0-9-]+-)?[0-9a-f]{${hashDigits}}$`).test(name);
}

/** The endpoint (Cloud Management API, section 2), on one line, without fields that do not apply. */
export function endpointJSON(endpoint: Endpoint): string {
  return JSON.stringify(endpoint, (_, value) => value ?? undefined);
}

/** The ConfigMap that mirrors an endpoint, from its {@link endpointJSON}. */
export function endpointConfigMap(json: string, maker: Maker, namespace: string): ConfigMap {
  const endpoint = JSON.parse(json) as Endpoint;
  const name = endpointName(endpoint.id);
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace,
      annotations: { [mirroredBy]: markOf(maker.installation.plain, maker.account, { name, namespace }) },
      labels: {
        'app.kubernetes.io/managed-by': 'edge-operator',
        ...mirrorLabels(maker.account),
        'edge-operator.dev/proto': labelValue(endpoint.proto),
        'edge-operator.dev/type': labelValue(endpoint.type),
        'edge-operator.dev/region': labelValue(endpoint.region),
      },
      ...(maker.owner === undefined ? {} : { ownerReferences: [maker.owner] }),
    },
    data: dataOf(endpoint, json),
  };
}

function dataOf(endpoint: Endpoint, json: string): Readonly<Record<string, string>> {
  return { ...Object.fromEntries(flatten(endpoint)), 'endpoint.json': json };
}

/** Of who made the ConfigMap, and of its name: a copy under another name, or made by another, has another. */
function markOf(installation: string, account: string, { name, namespace }: ObjectRef): string {
  return hash('sha256', JSON.stringify([installation, account, namespace, name]), 'base64url').slice(0, markDigits);
}

export function markIn({ metadata: { annotations } }: ConfigMap): string | undefined {
  return annotations?.[mirroredBy];
}

/** Labels prove nothing, for anybody may write them. */
export type Origin = 'ours' | 'of another' | 'unmarked';

export function originOf(configMap: ConfigMap, { installation: { name, plain }, account }: Maker): Origin {
  const mark = markIn(configMap);
  if (mark === undefined) return 'unmarked';
  // Earlier marks have the whole name of the installation.
  return [plain, name].some((each) => mark === markOf(each, account, configMap.metadata)) ? 'ours' : 'of another';
}

/**
 * The content is what a mirror writes under this name, and nothing else: so an earlier version left it, which put no mark
 * on what it made.
 */
export function isWhole(configMap: ConfigMap): boolean {
  return configMap.digest === undefined ? isMirror(configMap) : configMap.isAltered !== true;
}

function isMirror({ metadata, data = {}, binaryData }: ConfigMap): boolean {
  const json = data['endpoint.json'] ?? '';
  try {
    const endpoint = JSON.parse(json) as Endpoint;
    const isNamed = typeof endpoint.id === 'string' && endpointName(endpoint.id) === metadata.name;
    return (
      isNamed &&
      binaryData === undefined &&
      digestOf({ metadata, data }) === digestOf({ metadata, data: dataOf(endpoint, json) })
    );
  } catch {
    return false;
  }
}

/** What a cache needs of a ConfigMap: a digest stands for its content. */
export function summary(configMap: ConfigMap): ConfigMap {
  const { data: _data, binaryData: _binaryData, ...rest } = configMap;
  return { ...rest, digest: digestOf(configMap), ...(isWhole(configMap) ? {} : { isAltered: true }) };
}

/** Content is compared whole; of labels, annotations and owners only the mirror's, because other tools may keep theirs there. */
export function matches(actual: ConfigMap, desired: ConfigMap): boolean {
  const labels = actual.metadata.labels ?? {};
  const labelled = hasLabels(labels, desired.metadata.labels ?? {});
  const marked = hasLabels(actual.metadata.annotations, desired.metadata.annotations ?? {});
  const owned = (desired.metadata.ownerReferences ?? []).every((owner) => isOwnedBy(actual, owner));
  return labelled && marked && owned && digestOf(actual) === digestOf(desired);
}

function isOwnedBy({ metadata }: ConfigMap, { uid }: OwnerReference): boolean {
  return metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;
}

/** Or annotations. */
export function hasLabels(
  labels: Readonly<Record<string, string>> | undefined,
  wanted: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(wanted).every(([name, value]) => labels?.[name] === value);
}

function digestOf({
  data,
  binaryData,
  immutable,
  digest,
}: Pick<ConfigMap, 'metadata' | 'data' | 'binaryData' | 'immutable' | 'digest'>): string {
  return digest ?? hash('sha256', JSON.stringify([sorted(data), sorted(binaryData), immutable === true]), 'base64url');
}

function sorted(record: Readonly<Record<string, string>> = {}): readonly (readonly [string, string])[] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** `domain: {id, uri}` becomes `domain.id` and `domain.uri`. */
function flatten(fields: object, path = ''): readonly (readonly [string, string])[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    typeof value === 'object' ? flatten(value, `${path}${name}.`) : [[path + name, String(value)] as const],
  );
}

/** The text itself where a label can hold it, else what of it can be held and a hash. */
function labelValue(text: string): string {
  if (text.length <= maxLabelValue && /^([A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?)?$/.test(text)) return text;
  const suffix = hashOf(text);
  const readable = text
    .replace(/[^-_.A-Za-z0-9]+/g, '-')
    .slice(0, maxLabelValue - suffix.length - 1)
    .replace(/^[-_.]+/, '');
  return readable === '' ? suffix : `${readable}-${suffix}`;
}

function hashOf(text: string): string {
  return hash('sha256', text, 'hex').slice(0, hashDigits);
}

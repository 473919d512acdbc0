import type { FieldError } from '../api-error.ts';
import { invalidValue, required, tooLong } from '../field-error.ts';
import type { ApiObject, OwnerReference } from '../object.ts';
import type { ResourceType } from '../types/resource-type.ts';

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = new RegExp(`^${label}(\\.${label})*$`);
const dnsLabel = new RegExp(`^${label}$`);
const keyName = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const maxAnnotations = 256 * 1024;
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

const badSubdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const badLabel =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const badKey =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const badValue =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/** What is wrong with the name, labels and annotations of an object. */
export function metadataErrors({ metadata }: ApiObject, type: ResourceType): readonly FieldError[] {
  return [
    ...nameErrors(metadata.name, type),
    ...Object.entries(metadata.labels ?? {}).flatMap(([key, value]) => [
      ...keyErrors('metadata.labels', key),
      ...valueErrors(value),
    ]),
    ...annotationErrors(metadata.annotations ?? {}),
    ...(metadata.finalizers ?? []).flatMap((name) => keyErrors('metadata.finalizers', name)),
    ...ownerErrors(metadata.ownerReferences ?? []),
  ];
}

/** Why a key of labels, annotations or finalizers is none. */
function keyErrors(field: string, key: string, checked = key): readonly FieldError[] {
  const [prefix, name = ''] = checked.includes('/') ? checked.split(/\/(.*)/s) : [undefined, checked];
  const wrong = (detail: string) => invalidValue(field, key, detail);
  return [
    ...(prefix === undefined || subdomain.test(prefix) ? [] : [wrong(`prefix part ${badSubdomain}`)]),
    ...(name.length <= 63 ? [] : [wrong('name part must be no more than 63 bytes')]),
    ...(name.length > 63 || keyName.test(name) ? [] : [wrong(badKey)]),
  ];
}

function annotationErrors(annotations: Readonly<Record<string, string>>): readonly FieldError[] {
  const field = 'metadata.annotations';
  const size = Object.entries(annotations).reduce((sum, pair) => sum + Buffer.byteLength(pair.join('')), 0);
  return [
    ...Object.keys(annotations).flatMap((key) => keyErrors(field, key, key.toLowerCase())),
    ...(size > maxAnnotations ? [tooLong(field, maxAnnotations)] : []),
  ];
}

function ownerErrors(owners: readonly OwnerReference[]): readonly FieldError[] {
  const field = 'metadata.ownerReferences';
  const empty = owners.flatMap((owner) => [
    ...(owner.apiVersion ? [] : [invalidValue(`${field}.apiVersion`, '', 'version must not be empty')]),
    ...(['kind', 'name', 'uid'] as const).flatMap((name) =>
      owner[name] ? [] : [invalidValue(`${field}.${name}`, '', 'must not be empty')],
    ),
  ]);
  const [first, second] = owners
    .filter(({ controller }) => controller === true)
    .map(({ kind, name }) => `${kind}/${name}`);
  const detail = `Only one reference can have Controller set to true. Found "true" in references for ${first} and ${second}`;
  return second === undefined ? empty : [...empty, invalidValue(field, owners, detail)];
}

function nameErrors(name: string | undefined, type: ResourceType): readonly FieldError[] {
  if (name === undefined || name === '') return [required('metadata.name', 'name or generateName is required')];
  if (type.kind === 'Namespace' && type.group === '') {
    return dnsLabel.test(name) && name.length <= 63 ? [] : [invalidValue('metadata.name', name, badLabel)];
  }
  // Names of roles are parts of a path and no more, such as `system:node`.
  if (type.group === 'rbac.authorization.k8s.io') {
    const [wrong] = /^\.\.?$/.exec(name) ?? /[/%]/.exec(name) ?? [];
    if (wrong === undefined) return [];
    return [
      invalidValue('metadata.name', name, wrong === name ? `may not be '${name}'` : `may not contain '${wrong}'`),
    ];
  }
  if (name.length > 253) return [invalidValue('metadata.name', name, 'must be no more than 253 characters')];
  return subdomain.test(name) ? [] : [invalidValue('metadata.name', name, badSubdomain)];
}

function valueErrors(value: string): readonly FieldError[] {
  if (value.length > 63) return [invalidValue('metadata.labels', value, 'must be no more than 63 bytes')];
  return labelValue.test(value) ? [] : [invalidValue('metadata.labels', value, badValue)];
}

const standardFinalizers = ['orphan', 'foregroundDeletion', 'kubernetes'];

/** About finalizers that are new and could be taken for another controller's. */
export function finalizerWarnings({ metadata }: ApiObject, old: ApiObject | undefined): readonly string[] {
  const known = [...standardFinalizers, ...(old?.metadata.finalizers ?? [])];
  const bare = (metadata.finalizers ?? []).filter((name) => !known.includes(name) && !name.includes('/'));
  const advice = 'prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers';
  return [...new Set(bare)].sort().map((name) => `metadata.finalizers: ${JSON.stringify(name)}: ${advice}`);
}

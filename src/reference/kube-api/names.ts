import type { FieldError } from './api-error.ts';
import { invalidValue, required } from './field-error.ts';
import type { ApiObject } from './object.ts';
import type { ResourceType } from './resource-type.ts';

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = new RegExp(`^${label}(\\.${label})*$`);
const dnsLabel = new RegExp(`^${label}$`);
const qualifiedName = new RegExp(`^(${label}(\\.${label})*/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$`);
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
      ...(qualifiedName.test(key) ? [] : [invalidValue('metadata.labels', key, badKey)]),
      ...valueErrors(value),
    ]),
    ...Object.keys(metadata.annotations ?? {})
      .filter((key) => !qualifiedName.test(key.toLowerCase()))
      .map((key) => invalidValue('metadata.annotations', key, badKey)),
  ];
}

function nameErrors(name: string | undefined, type: ResourceType): readonly FieldError[] {
  if (name === undefined || name === '') return [required('metadata.name', 'name or generateName is required')];
  if (type.kind === 'Namespace' && type.group === '') {
    return dnsLabel.test(name) && name.length <= 63 ? [] : [invalidValue('metadata.name', name, badLabel)];
  }
  if (name.length > 253) return [invalidValue('metadata.name', name, 'must be no more than 253 bytes')];
  return subdomain.test(name) ? [] : [invalidValue('metadata.name', name, badSubdomain)];
}

function valueErrors(value: string): readonly FieldError[] {
  if (value.length > 63) return [invalidValue('metadata.labels', value, 'must be no more than 63 bytes')];
  return labelValue.test(value) ? [] : [invalidValue('metadata.labels', value, badValue)];
}

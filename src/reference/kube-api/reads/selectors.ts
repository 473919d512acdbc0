import { badRequest } from '../api-error.ts';
import { isMap, mapOf } from '../json.ts';
import type { ApiObject } from '../object.ts';
import type { ResourceType } from '../types/resource-type.ts';

export type Predicate = (object: ApiObject) => boolean;

const key = '[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?';
const setBased = new RegExp(`^(?<key>${key})\\s+(?<operator>in|notin)\\s*\\((?<values>[^()]*)\\)$`);
const equality = new RegExp(`^(?<key>${key})\\s*(?<operator>==|=|!=)\\s*(?<value>[-A-Za-z0-9_.]*)$`);
const comparison = new RegExp(`^(?<key>${key})\\s*(?<operator>[<>])\\s*(?<value>\\d+)$`);
const existence = new RegExp(`^(?<not>!?)\\s*(?<key>${key})$`);

/** A label selector such as `app=a,tier in (x, y),!old`. Throws 400 when it cannot be parsed. */
export function labelSelector(text: string): Predicate {
  const requirements = splitOutsideParentheses(text).map(labelRequirement);
  return ({ metadata }) => requirements.every((holds) => holds(metadata.labels ?? {}));
}

type Labels = Readonly<Record<string, string>>;

function splitOutsideParentheses(text: string): readonly string[] {
  const parts = text.split(/,(?![^(]*\))/).map((part) => part.trim());
  return parts.filter((part) => part !== '');
}

function labelRequirement(text: string): (labels: Labels) => boolean {
  const set = setBased.exec(text)?.groups;
  if (set !== undefined) {
    const values = (set.values ?? '').split(',').map((value) => value.trim());
    const wanted = set.operator === 'in';
    return (labels) => values.includes(labels[set.key ?? ''] ?? '\0') === wanted;
  }
  const equal = equality.exec(text)?.groups;
  if (equal !== undefined) {
    const wanted = equal.operator !== '!=';
    return (labels) => (labels[equal.key ?? ''] === equal.value) === wanted;
  }
  const compared = comparison.exec(text)?.groups;
  if (compared !== undefined) {
    const sign = compared.operator === '>' ? 1 : -1;
    return (labels) => sign * (Number.parseInt(labels[compared.key ?? ''] ?? '', 10) - Number(compared.value)) > 0;
  }
  const exists = existence.exec(text)?.groups;
  if (exists === undefined) throw badRequest(`unable to parse requirement: found '${text}'`);
  return (labels) => (exists.key ?? '') in labels === (exists.not === '');
}

/** A field selector such as `metadata.name=a,spec.region!=us`. Throws 400 for fields that the type does not offer. */
export function fieldSelector(text: string, type: ResourceType): Predicate {
  // A backslash takes the next character along.
  const parts = text.match(/(?:\\.|\\$|[^,\\])+/gs) ?? [];
  const requirements = parts.map((part) => fieldRequirement(part, type));
  return (object) => requirements.every((holds) => holds(object));
}

function fieldRequirement(text: string, type: ResourceType): Predicate {
  const match = /^(?<field>[^=!]*)(?<operator>==|=|!=)(?<value>.*)$/.exec(text)?.groups;
  if (match === undefined) throw badRequest(`invalid selector: '${text}'; can't understand '${text}'`);
  const { field = '', operator } = match;
  const value = unescaped(match.value ?? '');
  const offered = ['metadata.name', ...(type.namespaced ? ['metadata.namespace'] : []), ...type.selectableFields];
  if (!offered.includes(field)) throw badRequest(`field label not supported: ${field}`);
  return (object) => (fieldText(object, field) === value) === (operator !== '!=');
}

function unescaped(text: string): string {
  for (const [pair] of text.matchAll(/\\.?/gs)) {
    if (!/^\\[\\,=]$/.test(pair)) throw badRequest(`invalid field selector: invalid escape sequence: ${pair}`);
  }
  if (/^(?:\\.|[^\\=])*=/s.test(text)) throw badRequest('invalid field selector: unescaped character in value: 61');
  return text.replace(/\\(.)/gs, '$1');
}

function fieldText(object: ApiObject, field: string): string {
  const value = field.split('.').reduce<unknown>((holder, name) => mapOf(holder)[name], object);
  if (value === undefined || value === null) return '';
  // Core events select on `source`, which means its component.
  return isMap(value) ? String(value.component ?? '') : String(value);
}

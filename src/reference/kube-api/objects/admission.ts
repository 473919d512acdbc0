import { type FieldError, invalid } from '../api-error.ts';
import { forbiddenField } from '../field-error.ts';
import { equal, mapOf, omit, withKey } from '../json.ts';
import { type ApiObject, finalizersOf, type Meta, withMeta } from '../object.ts';
import type { CelValidator } from '../schema/cel.ts';
import { applyDefaults } from '../schema/defaults.ts';
import { prune } from '../schema/prune.ts';
import { hasRules } from '../schema/structural.ts';
import { type Patterns, validate } from '../schema/validate.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { cannotHandle } from '../writes/decode.ts';
import { metadataErrors } from './names.ts';

/** An endpoint below an object that writes a part of it only. */
export type Subresource = 'status' | 'scale' | undefined;

/** How an object came to be a candidate for the store. */
interface Candidacy {
  readonly subresource: Subresource;
  /** By server-side apply: the real server does not clean what was applied of nulls. */
  readonly applied: boolean;
  readonly onUnknown: (path: string) => void;
}

/** What makes an object fit to be stored: pruned, defaulted, with the parts kept that this endpoint does not write. */
export function normalise(
  candidate: ApiObject,
  old: ApiObject | undefined,
  type: ResourceType,
  { subresource, applied, onUnknown }: Candidacy,
): ApiObject {
  const pruned = withoutEmptyMeta(prune(candidate, type.schema, onUnknown) as ApiObject);
  if (!type.custom) checkTypes(pruned, type);
  const merged = isolate(pruned, old, type, subresource);
  const defaulted = applyDefaults(merged, type.schema, applied && type.custom) as ApiObject;
  return type.behaviour.prepare?.(defaulted, old) ?? defaulted;
}

/** Maps and lists of metadata are absent rather than empty. */
function withoutEmptyMeta(object: ApiObject): ApiObject {
  const { labels, annotations, finalizers, ownerReferences } = object.metadata;
  const parts = Object.entries({ labels, annotations, finalizers, ownerReferences });
  const empty = parts.filter(([, part]) => part && Object.keys(part).length === 0).map(([name]) => name);
  return empty.length === 0 ? object : { ...object, metadata: omit(object.metadata, ...empty) };
}

/** Main endpoint: status is not written. Status endpoint: only status is. */
function isolate(
  candidate: ApiObject,
  old: ApiObject | undefined,
  type: ResourceType,
  subresource: Subresource,
): ApiObject {
  if (!type.hasStatus) return candidate;
  if (subresource !== 'status') return withKey(candidate, 'status', old?.status);
  return old === undefined ? candidate : withKey(old, 'status', candidate.status);
}

function checkTypes(object: ApiObject, type: ResourceType): void {
  const errors = validate(applyDefaults(object, type.schema), undefined, type.schema, new Map());
  const wrong = errors.find((error) => error.reason === 'FieldValueTypeInvalid');
  if (wrong !== undefined) throw cannotHandle(type, `json: cannot unmarshal ${wrong.field}: ${wrong.message}`);
}

/** The fields of metadata that only the server writes, as they are on `old`. */
export function keepServerFields(object: ApiObject, old: ApiObject): ApiObject {
  const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation } = old.metadata;
  return withMeta(object, {
    uid,
    creationTimestamp,
    deletionTimestamp,
    deletionGracePeriodSeconds,
    generation,
  } as Meta);
}

/** The generation after this write: it grows when anything but metadata (and status, where that is its own endpoint) changes. */
export function nextGeneration(object: ApiObject, old: ApiObject, type: ResourceType): number | undefined {
  if (!type.tracksGeneration) return old.metadata.generation;
  const ignored = ['metadata', 'apiVersion', ...(type.hasStatus ? ['status'] : [])];
  const current = old.metadata.generation ?? 1;
  return equal(omit(object, ...ignored), omit(old, ...ignored)) ? current : current + 1;
}

/** Compiled once per server. */
export interface Validators {
  readonly cel: CelValidator;
  readonly patterns: Patterns;
}

/** Throws 422 when the object breaks its schema, its rules or those of metadata. */
export function check(object: ApiObject, old: ApiObject | undefined, type: ResourceType, validators: Validators): void {
  const errors = [
    ...metadataErrors(object, type),
    ...(old === undefined ? [] : finalizerErrors(object, old)),
    ...validate(omit(object, 'metadata'), old && omit(old, 'metadata'), withoutMetadata(type), validators.patterns),
    ...(type.behaviour.validate?.(object, old) ?? []),
  ];
  if (errors.some(({ reason }) => blocking.has(reason))) {
    if (type.custom && hasRules(type.schema)) errors.push(notAllChecked);
  } else {
    errors.push(...validators.cel.validate(object, old, type.schema));
  }
  if (errors.length > 0) throw invalid(type.group, type.kind, object.metadata.name ?? '', errors);
}

function withoutMetadata({ schema }: ResourceType) {
  return { ...schema, properties: omit(mapOf(schema.properties), 'metadata') } as typeof schema;
}

/** Rules in CEL may rely on the schema, so the real server leaves them out after these errors. */
const blocking = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

const notAllChecked: FieldError = {
  reason: 'FieldValueInvalid',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  field: '<nil>',
};

function finalizerErrors(object: ApiObject, old: ApiObject): readonly FieldError[] {
  if (old.metadata.deletionTimestamp === undefined) return [];
  const added = finalizersOf(object).filter((finalizer) => !finalizersOf(old).includes(finalizer));
  if (added.length === 0) return [];
  const shown = `[]string{${added.map((finalizer) => JSON.stringify(finalizer)).join(', ')}}`;
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${shown}`;
  return [forbiddenField('metadata.finalizers', detail)];
}

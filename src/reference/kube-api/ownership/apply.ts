import { parse } from 'yaml';
import { ApiError, badRequest, type FieldError, modified } from '../api-error.ts';
import { equal, isMap, omit } from '../json.ts';
import { problemOf, shallow } from '../nesting.ts';
import { type ApiObject, timestamp, withMeta } from '../object.ts';
import type { Subresource } from '../objects/admission.ts';
import { apiVersionOf, type ResourceType } from '../types/resource-type.ts';
import { checkGvk } from '../writes/decode.ts';
import { compare, fieldsOf, unionOf } from './compare.ts';
import { difference, emptySet, type FieldSet, intersection, isEmpty, pathsOf, union } from './field-set.ts';
import { ownable, ownableChanges, trackUpdate } from './managed-fields.ts';
import { identityOf, type Manager, type Managers, managersOf, toManagedFields, without } from './managers.ts';
import { merge, removeFields } from './merge.ts';
import { checkTyped } from './typed.ts';

/** A server-side apply: `configuration` is all that `manager` wants to own. */
export interface ApplyRequest {
  readonly configuration: ApiObject;
  readonly type: ResourceType;
  readonly subresource: Subresource;
  readonly manager: string;
  /** Takes fields from other managers instead of failing. */
  readonly force: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The configuration in a request body, YAML or JSON. Throws 400 or 500 in the real server's words. */
export function decodeApply(body: string, type: ResourceType): ApiObject {
  const value = parseYaml(body);
  if (!isMap(value)) throw badRequest('error decoding YAML: not an object');
  const configuration = checkGvk(value, type);
  if (configuration.metadata.managedFields) throw badRequest('metadata.managedFields must be nil');
  checkTyped(configuration, type);
  return configuration;
}

function parseYaml(body: string): unknown {
  try {
    return shallow(parse(body));
  } catch (error) {
    throw badRequest(`error decoding YAML: ${problemOf(error)}`);
  }
}

/** The new object that an apply creates. Throws 409 when it names a uid. */
export function createdByApply(request: ApplyRequest): ApiObject {
  const { configuration, type } = request;
  const { uid, name = '' } = configuration.metadata;
  if (uid) {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    const wrong = modified(type, name);
    throw new ApiError(409, 'Conflict', wrong.message.replace(/: .*/s, `: ${why}`), wrong.details);
  }
  const { entry, set } = applier(request);
  const managers = new Map([[identityOf(entry), { entry, set }]]);
  return withMeta(configuration, { managedFields: toManagedFields(managers) } as object);
}

function applier({ configuration, type, subresource, manager, now }: ApplyRequest): Manager {
  const set = ownable(fieldsOf(configuration, type.schema), type, subresource);
  const scope = subresource === undefined ? {} : { subresource };
  const entry = {
    manager,
    operation: 'Apply' as const,
    apiVersion: apiVersionOf(type),
    time: timestamp(now),
    ...scope,
  };
  return { entry, set };
}

/**
 * `live` as the apply leaves it: what the manager sets is merged in, what it set before and no longer does is removed
 * unless someone else owns it. Throws 409 with a cause for each field that another manager owns with another value.
 */
export function applyConfiguration(live: ApiObject, request: ApplyRequest): ApiObject {
  const { configuration, type, subresource } = request;
  const mine = applier(request);
  const id = identityOf(mine.entry);
  const before = managersBefore(live, request);
  const others = new Map([...before].filter(([other]) => other !== id));
  const gone = difference(before.get(id)?.set ?? emptySet, mine.set);
  // All of the configuration, also what nobody can own: `metadata` stays though only its name is left.
  const kept = unionOf([fieldsOf(configuration, type.schema), ...[...others.values()].map(({ set }) => set)]);
  const merged = merge(live, configuration, type.schema);
  const wanted = removeFields(merged, gone, kept, type.schema) as ApiObject;
  const { changed, removed } = ownableChanges(live, wanted, type, subresource);
  const conflicts = conflictsOf(others, difference(changed, appliedByClient(live, request)));
  if (conflicts.length > 0 && !request.force) throw applyConflict(conflicts);
  const lost = union(changed, removed);
  const entry = isSame(wanted, live) ? withTimeOf(before.get(id), mine) : mine.entry;
  const managers = new Map([...without(others, lost), [id, { ...mine, entry }]]);
  return withMeta(wanted, {
    annotations: annotationsAfter(wanted, request),
    managedFields: toManagedFields(managers),
    resourceVersion: configuration.metadata.resourceVersion ?? live.metadata.resourceVersion,
  } as object);
}

/** What nobody owns is owned, from the first apply on, by a manager that stands for all who wrote it. */
function managersBefore(live: ApiObject, { type, subresource, now }: ApplyRequest): Managers {
  const managers = managersOf(live);
  if (managers.size > 0) return managers;
  return managersOf(trackUpdate(undefined, live, type, subresource, 'before-first-apply', timestamp(now)));
}

/** Owning what is there already is no write: the time is that of the one before, if there was one. */
function withTimeOf(before: Manager | undefined, { entry }: Manager): Manager['entry'] {
  const time = before?.entry.time;
  return { ...omit(entry, 'time'), ...(time === undefined ? {} : { time }) };
}

/** But for what is known of its managers and versions. */
function isSame(wanted: ApiObject, live: ApiObject): boolean {
  const [one, other] = [wanted, live].map((object) => ({
    ...object,
    metadata: omit(object.metadata, 'managedFields', 'resourceVersion'),
  }));
  return equal(one, other);
}

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** The fields that kubectl applied from the client side and that still have those values: kubectl may take them over. */
function appliedByClient(live: ApiObject, { manager, type }: ApplyRequest): FieldSet {
  const text = live.metadata.annotations?.[lastApplied];
  if (manager !== 'kubectl' || text === undefined) return emptySet;
  const applied = parsedOrNothing(text);
  const { changed, removed } = compare(applied, live, type.schema);
  return difference(difference(fieldsOf(applied, type.schema), changed), removed);
}

/** People can write anything into an annotation. */
function parsedOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** What `kubectl apply` without `--server-side` compares with is kept up to date when kubectl applies on the server. */
function annotationsAfter({ metadata }: ApiObject, { manager, subresource, configuration }: ApplyRequest) {
  const { annotations } = metadata;
  if (manager !== 'kubectl' || subresource !== undefined || annotations?.[lastApplied] === undefined)
    return annotations;
  return { ...annotations, [lastApplied]: `${JSON.stringify(configuration)}\n` };
}

interface Conflict {
  readonly manager: string;
  readonly path: string;
}

function conflictsOf(others: Managers, changed: FieldSet): readonly Conflict[] {
  return [...others.values()].flatMap(({ entry, set }) => {
    const both = intersection(set, changed);
    return isEmpty(both) ? [] : pathsOf(both).map((path) => ({ manager: describe(entry), path }));
  });
}

function describe({ manager, operation, apiVersion, subresource }: Manager['entry']): string {
  const name =
    JSON.stringify(manager) + (subresource === undefined ? '' : ` with subresource ${JSON.stringify(subresource)}`);
  if (operation === 'Apply') return name;
  return `${name} using ${apiVersion}`;
}

function applyConflict(conflicts: readonly Conflict[]): ApiError {
  const causes = conflicts.map(
    ({ manager, path }): FieldError => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${manager}`,
      field: path,
    }),
  );
  return new ApiError(409, 'Conflict', conflictMessage(conflicts), { causes });
}

function conflictMessage(conflicts: readonly Conflict[]): string {
  const [first, ...more] = conflicts;
  if (more.length === 0) return `Apply failed with 1 conflict: conflict with ${first?.manager}: ${first?.path}`;
  const managers = [...new Set(conflicts.map(({ manager }) => manager))].sort();
  const parts = managers.map((manager) => {
    const paths = conflicts.filter((conflict) => conflict.manager === manager).map(({ path }) => `\n- ${path}`);
    return `conflicts with ${manager}:${paths.join('')}`;
  });
  return `Apply failed with ${conflicts.length} conflicts: ${parts.join('\n')}`;
}

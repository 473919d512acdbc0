import { badRequest, type FieldError, invalid, invalidPatch } from '../api-error.ts';
import type { Exchange } from '../exchange.ts';
import { forbiddenField, invalidValue, notSupported, tooLong } from '../field-error.ts';
import { isMap, type JsonMap, stringsOf } from '../json.ts';
import type { ObjectRequest } from '../object-request.ts';
import type { WriteOptions } from '../objects/objects.ts';
import type { Preconditions } from '../objects/preconditions.ts';
import { parseNumber } from '../reads/list-options.ts';
import type { ResourceType } from '../types/resource-type.ts';
import { cannotHandle, parseBody } from './decode.ts';
import { duplicateFields } from './duplicate-fields.ts';
import { applyPatchTypes } from './patch.ts';

const policies = ['Foreground', 'Background', 'Orphan'];

/**
 * Preconditions and dry run of a DELETE. Throws 400 when its body is no DeleteOptions, and 422 for values that are
 * none. There are no dependents to delete or to orphan, so a propagation policy is checked and no more.
 */
export async function deleteOptions(exchange: Exchange): Promise<DeleteOptions> {
  const { query } = exchange;
  const body = decodeDeleteOptions(await exchange.body(), exchange.mediaType);
  parseNumber(query.get('gracePeriodSeconds'));
  const dryRun = [...query.getAll('dryRun').filter((value) => value !== ''), ...stringsOf(body.dryRun)];
  const policy = query.get('propagationPolicy') ?? body.propagationPolicy ?? undefined;
  const orphan = query.get('orphanDependents') ?? body.orphanDependents ?? undefined;
  const errors = [
    ...dryRunErrors(dryRun),
    ...(policy === undefined || policies.includes(String(policy))
      ? []
      : [notSupported('propagationPolicy', policy, [...policies, 'nil'])]),
    ...(policy === undefined || orphan === undefined
      ? []
      : [invalidValue('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set')]),
  ];
  if (errors.length > 0) throw invalid('meta.k8s.io', 'DeleteOptions', '', errors);
  return { preconditions: preconditionsOf(body), dryRun: dryRun.length > 0 };
}

/** One that cannot be read must not count as none: the object would be deleted in whatever state it is. */
function preconditionsOf({ preconditions = null }: JsonMap): Preconditions {
  if (preconditions === null) return {};
  const isRead = isMap(preconditions) && Object.values(preconditions).every((value) => typeof value === 'string');
  if (isRead) return preconditions;
  throw badRequest('preconditions in the body of the request is no Preconditions');
}

export interface DeleteOptions {
  readonly preconditions: Preconditions;
  readonly dryRun: boolean;
}

/** The server's own kind, which every type takes in every format, and clients in the group of the type. */
function decodeDeleteOptions(body: Buffer, mediaType: string): JsonMap {
  if (body.length === 0) return {};
  const value = parseBody(body, mediaType, 'DeleteOptions');
  if ((value.kind ?? 'DeleteOptions') === 'DeleteOptions') return value;
  throw badRequest(`${String(value.kind)} in the body of the request is no DeleteOptions`);
}

function dryRunErrors(values: readonly string[]): readonly FieldError[] {
  return values.every((value) => value === 'All') ? [] : [notSupported('dryRun', values, ['All'])];
}

/**
 * Dry run, field manager and field validation of a write with this body, JSON or not. Throws 422, naming `kind`, for
 * values that are none.
 */
export function writeOptions({ exchange, type }: ObjectRequest, kind: string, body: string): WriteOptions {
  const { query } = exchange;
  const dryRun = query.getAll('dryRun').filter((value) => value !== '');
  const validation = query.get('fieldValidation') || 'Warn';
  const isOtherPatch = kind === 'PatchOptions' && !applyPatchTypes.includes(exchange.mediaType);
  const errors = [
    ...dryRunErrors(dryRun),
    ...((query.get('fieldManager') ?? '').length > 128 ? [tooLong('fieldManager', 128)] : []),
    ...(query.has('force') && isOtherPatch
      ? [forbiddenField('force', 'may not be specified for non-apply patch')]
      : []),
    ...(['Strict', 'Warn', 'Ignore'].includes(validation)
      ? []
      : [notSupported('fieldValidation', validation, ['', 'Ignore', 'Strict', 'Warn'])]),
  ];
  if (errors.length > 0) throw invalid('meta.k8s.io', kind, '', errors);
  return {
    dryRun: dryRun.length > 0,
    fieldManager: query.get('fieldManager') || exchange.header('user-agent').split('/')[0] || 'unknown',
    warn: (text) => exchange.warn(text),
    onUnknown: (paths) =>
      reportProblems([...duplicates(exchange, body), ...paths.map(unknown)], validation, exchange, type, kind),
  };
}

const unknown = (path: string) => `unknown field ${JSON.stringify(path)}`;

function duplicates(exchange: Exchange, body: string): readonly string[] {
  const type = exchange.header('content-type');
  if (!/json/.test(type)) return [];
  const prefix = type.startsWith('application/json-patch') ? 'json patch ' : '';
  return duplicateFields(body).map((path) => `${prefix}duplicate field ${JSON.stringify(path)}`);
}

function reportProblems(
  texts: readonly string[],
  validation: string,
  exchange: Exchange,
  type: ResourceType,
  kind: string,
) {
  if (validation === 'Warn') for (const text of texts) exchange.warn(text);
  if (validation !== 'Strict' || texts.length === 0) return;
  const problem = `strict decoding error: ${texts.join(', ')}`;
  if (kind !== 'PatchOptions') throw cannotHandle(type, problem);
  throw invalidPatch(problem);
}

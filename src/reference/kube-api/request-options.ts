import { ApiError, badRequest, invalid } from './api-error.ts';
import type { Call } from './call.ts';
import { cannotHandle } from './decode.ts';
import { duplicateFields } from './duplicate-fields.ts';
import type { Exchange } from './exchange.ts';
import { notSupported } from './field-error.ts';
import { isMap, mapOf } from './json.ts';
import type { WriteOptions } from './objects.ts';
import type { Preconditions } from './preconditions.ts';
import type { ResourceType } from './resource-type.ts';

/** Preconditions and dry run of a DELETE. Throws 400 when its body is not JSON. */
export async function deleteOptions(exchange: Exchange): Promise<{ preconditions: Preconditions; dryRun: boolean }> {
  const text = await exchange.text();
  const body = text === '' ? {} : parseJson(text);
  const dryRun = exchange.query.get('dryRun') === 'All' || (Array.isArray(body.dryRun) && body.dryRun.includes('All'));
  return { preconditions: mapOf(body.preconditions), dryRun };
}

function parseJson(text: string) {
  try {
    const value: unknown = JSON.parse(text);
    if (isMap(value)) return value;
  } catch {
    // Refused below.
  }
  throw badRequest('the body of the request is no DeleteOptions');
}

/**
 * Dry run, field manager and field validation of a write with this body, JSON or not. Throws 422, naming `kind`, for
 * values that are none.
 */
export function writeOptions({ exchange, type }: Call, kind: string, body: string): WriteOptions {
  const { query } = exchange;
  const dryRun = query.getAll('dryRun').filter((value) => value !== '');
  const validation = query.get('fieldValidation') || 'Warn';
  const errors = [
    ...(dryRun.every((value) => value === 'All') ? [] : [notSupported('dryRun', dryRun, ['All'])]),
    ...(['Strict', 'Warn', 'Ignore'].includes(validation)
      ? []
      : [notSupported('fieldValidation', validation, ['', 'Ignore', 'Strict', 'Warn'])]),
  ];
  if (errors.length > 0) throw invalid('meta.k8s.io', kind, '', errors);
  return {
    dryRun: dryRun.length > 0,
    fieldManager: query.get('fieldManager') || exchange.header('user-agent').split('/')[0] || 'unknown',
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
  const error = { reason: 'FieldValueInvalid', message: `Invalid value: "": ${problem}`, field: 'patch' };
  throw new ApiError(422, 'Invalid', ` "" is invalid: patch: ${error.message}`, { causes: [error] });
}

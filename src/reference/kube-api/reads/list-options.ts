import { ApiError, badRequest, type FieldError, invalid } from '../api-error.ts';
import { forbiddenField, notSupported } from '../field-error.ts';

/** Throws 422 for parameters of a list that do not go together. */
export function checkListOptions(query: URLSearchParams): void {
  const { match, version, forbid, refuse, errors } = inspect(query);
  if (match !== '') {
    if (version === '') forbid('is forbidden unless resourceVersion is provided');
    if (query.get('continue')) forbid('is forbidden when continue is provided');
    if (match === 'Exact' && version === '0') forbid('"exact" is forbidden for resourceVersion "0"');
    if (!['Exact', 'NotOlderThan'].includes(match)) {
      errors.push(notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']));
    }
  }
  if (query.has('sendInitialEvents')) {
    errors.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  refuse();
}

/** The same for a watch. */
export function checkWatchOptions(query: URLSearchParams): void {
  const { match, forbid, refuse, errors } = inspect(query);
  if (query.has('sendInitialEvents') && match !== 'NotOlderThan') {
    const detail = 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
    errors.push(forbiddenField('resourceVersionMatch', detail));
  }
  if (match !== '') {
    if (!query.has('sendInitialEvents')) forbid('is forbidden for watch unless sendInitialEvents is provided');
    if (match !== 'NotOlderThan') errors.push(notSupported('resourceVersionMatch', match, ['NotOlderThan']));
  }
  refuse();
}

function inspect(query: URLSearchParams) {
  const errors: FieldError[] = [];
  return {
    match: query.get('resourceVersionMatch') ?? '',
    version: query.get('resourceVersion') ?? '',
    errors,
    forbid: (why: string) => void errors.push(forbiddenField('resourceVersionMatch', `resourceVersionMatch ${why}`)),
    refuse: () => {
      if (errors.length > 0) throw invalid('meta.k8s.io', 'ListOptions', '', errors);
    },
  };
}

/** A whole number; undefined when it is absent. Throws 400 for anything else. */
export function parseNumber(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  if (!/^-?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

/** The version that a request names. Throws for anything but a number: 400 for lists, for the other verbs 500. */
export function parseVersion(query: URLSearchParams, verb: 'list' | 'get' | 'watch'): number | undefined {
  const text = query.get('resourceVersion') ?? '';
  if (text === '') return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const quoted = JSON.stringify(text);
  const problem = `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`;
  throw verb === 'list' ? badRequest(`invalid resource version: ${problem}`) : new ApiError(500, undefined, problem);
}

/** Throws 504 for a version that is yet to come. */
export function checkReached(wanted: number | undefined, current: number): void {
  if (wanted === undefined || wanted <= current) return;
  throw new ApiError(504, 'Timeout', `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

import type { JsonMap } from './json.ts';

/** What a field error says, as in `details.causes` of a Status. */
export interface FieldError {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string | undefined;
  readonly group?: string | undefined;
  readonly kind?: string | undefined;
  readonly uid?: string | undefined;
  readonly causes?: readonly FieldError[];
  readonly retryAfterSeconds?: number;
}

/** What error messages call a resource: `widgets.example.com`, and for the core group only `configmaps`. */
export interface GroupResource {
  readonly group: string;
  readonly plural: string;
}

/** A refused request: becomes a `metav1.Status` with HTTP status `code`. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number;
  readonly reason: string | undefined;
  readonly details: StatusDetails | undefined;
  readonly #metadata: JsonMap;

  constructor(
    code: number,
    reason: string | undefined,
    message: string,
    details?: StatusDetails,
    metadata: JsonMap = {},
  ) {
    super(message);
    this.#metadata = metadata;
    this.code = code;
    this.reason = reason;
    this.details = details;
  }

  toStatus(): JsonMap {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.#metadata,
      status: 'Failure',
      message: this.message,
      ...(this.reason === undefined ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: withoutEmpty(this.details) }),
      code: this.code,
    };
  }
}

function withoutEmpty(details: StatusDetails): JsonMap {
  return Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined && value !== ''));
}

export function qualified(group: string, name: string): string {
  return group === '' ? name : `${name}.${group}`;
}

const of = (type: GroupResource, name: string): StatusDetails => ({ name, group: type.group, kind: type.plural });

const named = (type: GroupResource, name: string) => `${qualified(type.group, type.plural)} "${name}"`;

export const badRequest = (message: string) => new ApiError(400, 'BadRequest', message);

/** 400: a body that is no object of its type. As the result of a patch the same is 422. */
export class UndecodableError extends ApiError {
  constructor(message: string) {
    super(400, 'BadRequest', message);
  }
}

/** 422: what a patch makes of an object is none. */
export function invalidPatch(problem: string): ApiError {
  const cause = { reason: 'FieldValueInvalid', message: `Invalid value: "": ${problem}`, field: 'patch' };
  return new ApiError(422, 'Invalid', ` "" is invalid: patch: ${cause.message}`, { causes: [cause] });
}

export const notFound = (type: GroupResource, name: string) =>
  new ApiError(404, 'NotFound', `${named(type, name)} not found`, of(type, name));

export const alreadyExists = (type: GroupResource, name: string) =>
  new ApiError(409, 'AlreadyExists', `${named(type, name)} already exists`, of(type, name));

export const conflict = (type: GroupResource, name: string, why: string) =>
  new ApiError(409, 'Conflict', `Operation cannot be fulfilled on ${named(type, name)}: ${why}`, of(type, name));

export const modified = (type: GroupResource, name: string) =>
  conflict(type, name, 'the object has been modified; please apply your changes to the latest version and try again');

export const forbidden = (type: GroupResource, name: string, why: string, causes?: readonly FieldError[]) =>
  new ApiError(403, 'Forbidden', `${named(type, name)} is forbidden: ${why}`, {
    ...of(type, name),
    ...(causes === undefined ? {} : { causes }),
  });

export const noSuchResource = () =>
  new ApiError(404, 'NotFound', 'the server could not find the requested resource', {});

export const methodNotAllowed = () =>
  new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});

/** A verb that objects of this type have, but not here. */
export const notSupportedHere = (type: GroupResource, verb: 'create' | 'delete') => {
  const message = `${verb} is not supported on resources of kind "${qualified(type.group, type.plural)}"`;
  return new ApiError(405, 'MethodNotAllowed', message, { group: type.group, kind: type.plural });
};

export const unsupportedMediaType = (accepted: readonly string[]) =>
  new ApiError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );

/** 410; `next` is a token with which the client can go on, if there is one. */
export const expired = (message: string, next?: string) =>
  new ApiError(410, 'Expired', message, undefined, next === undefined ? {} : { continue: next });

/** 422: `kind` is the object's kind (or a pseudo one such as `PatchOptions`). */
export function invalid(group: string, kind: string, name: string, errors: readonly FieldError[]): ApiError {
  const texts = errors.map((error) => `${error.field}: ${error.message}`);
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  const message = `${qualified(group, kind)} "${name}" is invalid: ${list}`;
  return new ApiError(422, 'Invalid', message, { name, group, kind, causes: errors });
}

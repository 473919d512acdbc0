import { type Cause, errorBody } from '../../../src/reference/cloud-api/problem.ts';
import type { ApiError } from '../../../src/reference/kube-api/api-error.ts';
import type { Chance } from '../core/random.ts';
import type { Answer } from '../core/server.ts';

type Headers = Readonly<Record<string, string>>;

const answer = (status: number, type: string, body: string, headers: Headers = {}): Answer => ({
  status,
  headers: { 'content-type': type, 'content-length': String(Buffer.byteLength(body)), ...headers },
  body,
});

export const json = (status: number, body: object, headers?: Headers): Answer =>
  answer(status, 'application/json', JSON.stringify(body), headers);

export const html = (status: number, title: string, headers?: Headers): Answer =>
  answer(
    status,
    'text/html',
    `<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`,
    headers,
  );

export const empty = (status: number, headers: Headers = {}): Answer => ({
  status,
  headers: { 'content-length': '0', ...headers },
  body: '',
});

/** In the form of the cloud's own errors. */
export function refusal(status: number, cause: Cause, message: string, chance: Chance, headers?: Headers): Answer {
  const operation = `op_${chance.uuid().replaceAll('-', '').slice(0, 27)}`;
  return json(status, errorBody(cause, message, operation, status), headers);
}

/** In the form of Kubernetes' own errors. */
export const kubeRefusal = (error: ApiError, headers?: Headers): Answer => json(error.code, error.toStatus(), headers);

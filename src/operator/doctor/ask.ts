import type { KubeConnection } from '../kube/connection.ts';
import { errorFromResponse } from '../kube/status.ts';

export interface Question {
  readonly path: string;
  /** What is asked is a POST of this, where there is one. */
  readonly body?: object;
  readonly doing: string;
}

/** Asks the API server something that is no object: the answer has no name. Throws a KubeError when it refuses. */
export async function ask<T>(connection: KubeConnection, { path, body, doing }: Question): Promise<T> {
  const sent = body === undefined ? {} : { contentType: 'application/json', body: JSON.stringify(body) };
  const method = body === undefined ? 'GET' : 'POST';
  const response = await connection.request({ method, path, ...sent, doing, silenceTimeoutMs: 30_000 });
  const text = await response.text();
  if (response.status >= 300) throw errorFromResponse(doing, response.status, response.retryAfter, text);
  return JSON.parse(text) as T;
}

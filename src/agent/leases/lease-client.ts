import { z } from 'zod';
import { isKey } from '../../common/credential/key.ts';
import { malformed, type Read, refusal } from '../../common/http/answer.ts';
import { ApiError } from '../../common/http/errors.ts';
import { HttpClient } from '../../common/http/http-client.ts';
import type { Service } from '../../common/http/service.ts';
import { parseJSON } from '../../common/http/text.ts';
import { parseBaseURL } from '../../common/http/url.ts';
import { systemRuntime } from '../../common/runtime.ts';
import type { Endpoint } from './endpoint.ts';

export interface LeaseClientOptions {
  /** Base URL of the cloud. */
  readonly url: string;
  /** The current API key, asked for each request. */
  readonly key: () => string;
  readonly userAgent: string;
}

const errorSchema = z.object({ msg: z.string() }).catch({ msg: '' });
const idSchema = z.object({ id: z.string() });

const timeoutMs = 5_000;

/** HTTP as docs/reference-cloud.md, "Endpoints of agents", has it. Messages are of the cloud, without naming it. */
const leaseService: Service = {
  answered: 'answered',
  unanswered: 'cannot be reached: ',
  urlName: 'cloud URL',
  headers: { 'service-version': '2' },
  timeouts: { connectMs: timeoutMs, headersMs: timeoutMs, bodyMs: timeoutMs, totalMs: timeoutMs },
  connections: 8,
  isOutside: true,
  errorBody: (body) => ({ messages: [errorSchema.parse(body).msg] }),
  redacted: '…',
  longestRetryAfterMs: 300_000,
};

/** Whatever stands between may answer 200 as well. */
function registered(id: string): Read<void> {
  return (answer) => {
    if (answer.status !== 200) throw refusal(answer);
    const { data } = idSchema.safeParse(parseJSON(answer.text));
    if (data?.id !== id) throw malformed(answer, "a 200 that is not of the service's own form; check the cloud URL");
  };
}

/** One that is not there is as good as deleted. */
const withdrawn: Read<void> = (answer) => {
  if (answer.status !== 204 && answer.status !== 404) throw refusal(answer);
};

/** Each request takes 5 s at most; none is repeated. */
export class LeaseClient {
  readonly #key: () => string;
  readonly #http: HttpClient;

  constructor({ url, key, userAgent }: LeaseClientOptions) {
    this.#key = key;
    this.#http = new HttpClient(leaseService, {
      baseURL: parseBaseURL(url, leaseService.urlName),
      userAgent,
      ...systemRuntime,
    });
  }

  /** @throws ApiError */
  put(id: string, endpoint: Endpoint): Promise<void> {
    return this.#send('PUT', id, registered(id), endpoint);
  }

  /** @throws ApiError */
  delete(id: string): Promise<void> {
    return this.#send('DELETE', id, withdrawn);
  }

  /** Waits for the requests under way. */
  close(): Promise<void> {
    return this.#http.close();
  }

  async #send(method: 'PUT' | 'DELETE', id: string, read: Read<void>, body?: Endpoint): Promise<void> {
    const key = this.#key();
    if (!isKey(key)) {
      const message = 'was not asked: the API key has characters that a header cannot carry';
      throw new ApiError(message, { reason: 'Unauthorized', definite: true });
    }
    const path = `/_agent/endpoints/${id}`;
    await this.#http.send({ method, path, read, ...(body === undefined ? {} : { body }) }, key);
  }
}

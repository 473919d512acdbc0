import type { LookupFunction } from 'node:net';
import { unescape as decoded } from 'node:querystring';
import { Agent, type Dispatcher } from 'undici';
import type { Clock, WallClock } from '../clock.ts';
import type { Runtime } from '../runtime.ts';
import { type Answer, malformed, type Read } from './answer.ts';
import { readText } from './body.ts';
import { failed, notSent } from './failure.ts';
import './late-streams.ts';
import { type Permit, PermittedSending } from './permitted-sending.ts';
import { proxied } from './proxy.ts';
import { RecentSecrets } from './recent-secrets.ts';
import type { Service, Timeouts } from './service.ts';
import { hasMoreValues } from './text.ts';

const MiB = 1024 * 1024;
/** Parsed, each takes some fifty bytes, however short it is written. */
const valuesPerMiB = 32_768;

export interface HttpClientOptions extends Pick<Runtime, 'clock' | 'monotonic' | 'dispatcher'> {
  /** Scheme, host and optional path prefix. */
  readonly baseURL: URL;
  readonly userAgent: string;
  /** Default those of the service. */
  readonly timeouts?: Timeouts | undefined;
  /** Finds the addresses of a host name, where no dispatcher is given; default the system's. */
  readonly lookup?: LookupFunction | undefined;
}

/** One call of an operation. */
export interface Operation<T> {
  /** Begins the message of an error: `reserved_addrs.create`. */
  readonly name?: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the base URL, encoded, with its query. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: object;
  readonly read: Read<T>;
  /** It carries or reads a secret that is not known here: of what the service says only status and code are shown. */
  readonly isSecret?: boolean;
  /** More of what is sent that no message about it may repeat. */
  readonly secrets?: readonly string[];
  /** Largest body of an answer in MiB, default 8; for each it may have 32,768 values. */
  readonly largestAnswerMiB?: number;
}

/** Connections for many clients of a service; whoever opens them closes them. */
export function openConnections(
  { connections, timeouts, isOutside = false }: Service,
  { lookup }: Pick<HttpClientOptions, 'lookup'> = {},
): Dispatcher {
  const connect = { timeout: timeouts.connectMs, ...(lookup && { lookup }) };
  const options = { connections: connections ?? null, connect };
  return (isOutside ? proxied(options) : undefined) ?? new Agent(options);
}

/** Exchanges JSON with one service over HTTP. Redirects are not followed, nothing is retried. */
export class HttpClient {
  readonly #service: Service;
  readonly #origin: string;
  readonly #prefix: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timeouts: Timeouts;
  readonly #clock: WallClock;
  readonly #monotonic: Clock;
  readonly #dispatcher: Dispatcher;
  readonly #ownsDispatcher: boolean;
  readonly #sent = new RecentSecrets();
  #closed: Promise<void> | undefined;

  constructor(service: Service, options: HttpClientOptions) {
    const { baseURL, userAgent, timeouts = service.timeouts, clock, monotonic, dispatcher, lookup } = options;
    this.#service = service;
    this.#origin = baseURL.origin;
    this.#prefix = baseURL.pathname.replace(/\/+$/, '');
    this.#headers = { accept: 'application/json', 'user-agent': userAgent, ...service.headers };
    this.#timeouts = timeouts;
    this.#clock = clock;
    this.#monotonic = monotonic;
    this.#ownsDispatcher = dispatcher === undefined;
    this.#dispatcher = dispatcher ?? openConnections({ ...service, timeouts }, { lookup });
  }

  /** With an API key where the service asks for one. @throws ApiError */
  async send<T>(operation: Operation<T>, key?: string, permit?: Permit): Promise<T> {
    return operation.read(await this.exchange(operation, key, permit));
  }

  /** As {@link send}, but any HTTP answer is a result. @throws ApiError when there is none, or it is too large */
  async exchange(operation: Operation<unknown>, key?: string, permit: Permit = () => {}): Promise<Answer> {
    const { name, body, secrets = [], largestAnswerMiB = 8 } = operation;
    this.#sent.add(this.#secretsOf(body));
    const permitted = new PermittedSending(permit);
    const { status, headers, text } = await this.#receive(operation, largestAnswerMiB * MiB, key, permitted).catch(
      (cause) => {
        throw permitted.isRefused ? notSent(name, permitted.refusal) : failed(this.#service, name, cause);
      },
    );
    if (text === undefined) {
      throw malformed({ operation: name, status }, `larger than ${largestAnswerMiB} MiB`, { isTooLarge: true });
    }
    const mostValues = largestAnswerMiB * valuesPerMiB;
    const hasMore = hasMoreValues(text, mostValues);
    // As for what is larger: what a 429 says is in its headers.
    if (hasMore && status !== 429) {
      throw malformed({ operation: name, status }, `more than ${mostValues} values`, { isTooLarge: true });
    }
    const service = this.#service;
    const isSecret = operation.isSecret === true || service.secretStatuses?.includes(status) === true;
    const known = [...(key === undefined ? [] : [key]), ...secrets, ...this.#sent.all()];
    const said = () => this.#saidIn(operation);
    const given = { status, headers, text: hasMore ? '' : text };
    return { service, operation: name, at: this.#clock.now(), ...given, secrets: known, said, isSecret };
  }

  /** Waits for the requests under way; may be called again. */
  close(): Promise<void> {
    this.#closed ??= this.#ownsDispatcher ? this.#dispatcher.close() : Promise.resolve();
    return this.#closed;
  }

  /** The text is undefined when it is too large. Throws what undici or the system throws. */
  async #receive(
    operation: Operation<unknown>,
    largest: number,
    key: string | undefined,
    { interceptor }: PermittedSending,
  ) {
    const dispatcher = this.#dispatcher.compose(interceptor);
    const { statusCode: status, headers, body } = await dispatcher.request(this.#options(operation, key));
    const text = readText(body, largest);
    // How long to wait is in its headers, whatever becomes of the rest.
    if (status === 429) return { status, headers, text: (await text.catch(() => undefined)) ?? '' };
    return { status, headers, text: await text };
  }

  #options({ method, path, body }: Operation<unknown>, key: string | undefined): Dispatcher.RequestOptions {
    const { headersMs, bodyMs, totalMs } = this.#timeouts;
    return {
      origin: this.#origin,
      path: this.#prefix + path,
      method,
      headers: {
        ...this.#headers,
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      headersTimeout: headersMs,
      bodyTimeout: bodyMs,
      // The timeouts of the parts do not stop an answer that comes in drops.
      signal: this.#monotonic.timeout(totalMs),
    };
  }

  #saidIn({ path, body = {}, secrets = [] }: Operation<unknown>): readonly string[] {
    const { secretFields = [] } = this.#service;
    const open = Object.entries(body).filter(([field]) => !secretFields.includes(field));
    return [path, decoded(path), ...textsIn(Object.fromEntries(open)).filter((text) => !secrets.includes(text))];
  }

  #secretsOf(body: object = {}): readonly string[] {
    const { secretFields = [] } = this.#service;
    return Object.entries(body).flatMap(([field, value]) =>
      secretFields.includes(field) && typeof value === 'string' ? [value] : [],
    );
  }
}

/** All names and values of a document. */
function textsIn(document: object): readonly string[] {
  const texts: string[] = [];
  JSON.stringify(document, (name, value: unknown) => {
    texts.push(name);
    if (typeof value !== 'object') texts.push(String(value));
    return value;
  });
  return texts;
}

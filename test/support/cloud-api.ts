import { contractChecker } from '../../src/reference/cloud-api/contract.fixture.ts';
import { type CloudApiCoreOptions, createCloudApi } from '../../src/reference/cloud-api/core.ts';
import type { JournalEntry } from '../../src/reference/cloud-api/journal.ts';
import type { Seed } from '../../src/reference/cloud-api/seed/schema.ts';
import { type CloudApi, type CloudApiOptions, startCloudApi } from '../../src/reference/cloud-api/server.ts';
import { isInMemory, serveInMemory } from './in-memory.ts';

const account = 'test';
const testKey = 'test-cloud-api-key';

export interface CloudAnswer {
  readonly status: number;
  /** Parsed JSON, the text when it is none, undefined when there is no body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
  readonly headers: Headers;
}

/** A cloud reference server inside the test, without a rate limit unless asked for. */
export interface TestCloud {
  readonly url: string;
  readonly apiKey: string;
  readonly server: CloudApi;
  /** What was received since the start or the last clearRequests, oldest first. */
  requests(): readonly JournalEntry[];
  clearRequests(): void;
  /** `<METHOD|*> <path> <what>...`: see docs/reference-cloud.md. */
  fault(spec: string): void;
  clearFaults(): void;
  /** Seeds the test's account. */
  seed(seed: Seed): void;
  /** Takes away a seeded object, such as an endpoint. */
  unseed(id: string): boolean;
  /**
   * A request of the test's own, with its key; it stands in the journal as all others. While no fault is set, the
   * answer must be as docs/openapi.json says, and a request that is not must be refused.
   */
  call(method: string, path: string, body?: unknown): Promise<CloudAnswer>;
  stop(): Promise<void>;
}

/** Once: to compile it takes longer than a cloud's start. */
const conforms = contractChecker();

/** `apiKeys` given here come on top of the test's own key, whose account is named `test`. */
export async function startTestCloud(options: Partial<CloudApiOptions> = {}): Promise<TestCloud> {
  const start = isInMemory ? startInMemory : startCloudApi;
  const server = await start({
    rateLimit: 0,
    faultControl: true,
    ...options,
    apiKeys: [`${account}=${testKey}`, ...(options.apiKeys ?? [])],
  });
  const call = async (method: string, path: string, body?: unknown): Promise<CloudAnswer> => {
    const faultless = server.faults.list().length === 0;
    const answer = await send(server.url, testKey, method, path, body);
    const { pathname } = new URL(path, server.url);
    if (!faultless || method === 'HEAD' || pathname.startsWith('/_')) return answer;
    const wrong = conforms({ method, path: pathname, body, status: answer.status, answer: answer.body });
    if (wrong !== undefined) throw new Error(`${method} ${path}: ${wrong}`);
    return answer;
  };
  return {
    url: server.url,
    apiKey: testKey,
    server,
    requests: () => server.requests(),
    clearRequests: () => server.clearRequests(),
    fault: (spec) => server.faults.add(spec),
    clearFaults: () => server.faults.clear(),
    seed: (seed) => server.seed({ accounts: [account], ...seed }),
    unseed: (id) => server.unseed(account, id),
    call,
    stop: () => server.close(),
  };
}

async function startInMemory(options: CloudApiCoreOptions): Promise<CloudApi> {
  const { listener, ...core } = await createCloudApi(options);
  const { url, leave } = serveInMemory(listener);
  const close = async () => {
    leave();
    await core.close();
  };
  return { ...core, url, close };
}

async function send(url: string, key: string, method: string, path: string, body?: unknown): Promise<CloudAnswer> {
  const response = await fetch(new URL(path, url), {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      'service-version': '2',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: parse(await response.text()), headers: response.headers };
}

function parse(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../common/clock.ts';
import { KubeClient, type WatchEvent } from './client.ts';
import {
  isAlreadyExists,
  isConflict,
  isGone,
  isNamespaceTerminating,
  isNotFound,
  KubeConnectionError,
  KubeError,
} from './errors.ts';
import { FakeApi, json, status, type Widget, widgetType } from './fake-api.fixture.ts';
import { errorFromResponse, errorFromStatus } from './status.ts';

let api: FakeApi;
let client: KubeClient;
const a = { namespace: 'default', name: 'a' };

beforeEach(async () => {
  api = await FakeApi.start();
  client = await api.client();
});

afterEach(() => api.stop());

function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => new Error('did not fail'),
    (error: unknown) => error,
  );
}

describe('reads', () => {
  test('a list fills in what items lack, and pages are followed', async () => {
    for (const name of ['a', 'b', 'c']) api.put(name);
    const page = await client.list<Widget>(widgetType, { limit: 2 });
    expect(page).toMatchObject({ items: [{ kind: 'Widget', apiVersion: 'example.dev/v1' }, {}], continue: '2' });
    const all = await client.listAll<Widget>(widgetType, { pageSize: 2, namespace: 'default' });
    expect(all.items.map((item) => item.metadata.name)).toEqual(['a', 'b', 'c']);
    expect(all.continue).toBeUndefined();
  });

  test('a list of large objects comes in smaller pages, and of each only what is kept is held', async () => {
    for (let index = 0; index < 12; index++) api.put(`w${index}`, { spec: { text: 'x'.repeat(1_000_000) } });
    const keep = (widget: Widget) => (widget.metadata.name === 'w3' ? undefined : { ...widget, spec: { size: 1 } });
    const { items } = await client.listAll<Widget>(widgetType, { namespace: 'default', keep });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(
      Array.from({ length: 12 }, (_, index) => `w${index}`).filter((name) => name !== 'w3'),
    );
    expect(items.every(({ spec }) => spec?.size === 1)).toBe(true);
    const limits = api.requests.map(({ query }) => Number(query.get('limit')));
    expect(limits[0]).toBe(500);
    expect(Math.max(...limits.slice(-3))).toBeLessThan(10);
  });

  test('an absent object is undefined', async () => {
    expect(await client.get(widgetType, a)).toBeUndefined();
    expect(await client.delete(widgetType, a)).toBeUndefined();
    expect(await failure(client.patch(widgetType, a, { type: 'merge', body: {} }))).toMatchObject({
      status: 404,
      message: 'patching Widget default/a: scripted NotFound',
    });
  });

  test('a namespaced object needs its namespace', async () => {
    await expect(client.get(widgetType, { name: 'a' })).rejects.toThrow('Widget a: no namespace given');
  });
});

describe('writes', () => {
  test.each([
    [{ type: 'merge', body: { x: 1 } }, 'application/merge-patch+json', ''],
    [{ type: 'json', body: [] }, 'application/json-patch+json', ''],
    [
      { type: 'apply', body: {}, fieldManager: 'me', force: true },
      'application/apply-patch+yaml',
      'fieldManager=me&force=true',
    ],
  ] as const)('a %j patch has its content type and query', async (patch, contentType, query) => {
    api.put('a');
    const options = { subresource: 'status', fieldValidation: 'Strict', dryRun: true } as const;
    api.script(
      () => true,
      (response) => json(response, 200, { metadata: { name: 'a' } }),
    );
    await client.patch(widgetType, a, patch, options);
    const [request] = api.requests;
    expect(request?.path).toBe('/apis/example.dev/v1/namespaces/default/widgets/a/status');
    expect(request?.headers['content-type']).toBe(contentType);
    const tail = query === '' ? '' : `&${query}`;
    expect(String(request?.query)).toBe(`fieldValidation=Strict&dryRun=All${tail}`);
  });

  test('update conflicts on a stale version, create on an existing name', async () => {
    const widget = api.put('a');
    const { resourceVersion } = widget.metadata;
    api.put('a');
    expect(isConflict(await failure(client.update(widgetType, widget)))).toBe(true);
    const created = await failure(client.create(widgetType, widget));
    expect([isAlreadyExists(created), isConflict(created)]).toEqual([true, false]);
    await client.delete(widgetType, a, {
      preconditions: { resourceVersion: resourceVersion ?? '' },
      propagationPolicy: 'Background',
    });
    expect(JSON.parse(api.requests.at(-1)?.body ?? '')).toMatchObject({
      preconditions: { resourceVersion },
      propagationPolicy: 'Background',
    });
  });

  test('a write whose answer was lost is not sent again', async () => {
    api.script(
      () => true,
      (response) => response.socket?.resetAndDestroy(),
    );
    expect(await failure(client.create(widgetType, api.put('b')))).toBeInstanceOf(KubeConnectionError);
    expect(api.requests).toHaveLength(1);
  });

  test.each([429, 503])('%d with Retry-After is tried again for every verb', async (code) => {
    api.put('a');
    for (let time = 0; time < 2; time++)
      api.script(
        () => true,
        (response) => status(response, code, 'Busy', { 'retry-after': '0' }),
      );
    expect(await client.patch(widgetType, a, { type: 'merge', body: { spec: { size: 2 } } })).toMatchObject({
      spec: { size: 2 },
    });
    expect(api.requests).toHaveLength(3);
  });

  test.each<[string, number, Record<string, string>]>([
    ['503 without Retry-After', 503, {}],
    ['500', 500, { 'retry-after': '0' }],
    ['429 with a Retry-After of minutes', 429, { 'retry-after': '120' }],
  ])('%s is thrown at once', async (_what, code, headers) => {
    api.script(
      () => true,
      (response) => status(response, code, 'Busy', headers),
    );
    expect(await failure(client.get(widgetType, a))).toMatchObject({ status: code });
    expect(api.requests).toHaveLength(1);
  });

  test('Retry-After is honoured for as long as the signal does not abort, and not for ever', async () => {
    const waits: number[] = [];
    const monotonic = { ...systemClock, now: () => 0, sleep: async (ms: number) => void waits.push(ms) };
    const patient = new KubeClient(await api.connection(), { monotonic });
    for (let time = 0; time < 9; time++)
      api.script(
        () => true,
        (response) => status(response, 429, 'Busy', { 'retry-after': '3' }),
      );
    expect(await failure(patient.get(widgetType, a))).toMatchObject({ status: 429, retryAfterMs: 3_000 });
    expect(waits).toEqual([3_000, 3_000, 3_000, 3_000]);
    const aborting = client.get(widgetType, a, { signal: AbortSignal.timeout(50) });
    await expect(aborting).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

describe('refusals', () => {
  test('carry status, reason, causes and what was being done', async () => {
    const causes = [{ field: 'spec.size', message: 'too big', reason: 'FieldValueInvalid' }];
    const details = { causes, retryAfterSeconds: 2 };
    api.script(
      () => true,
      (response) => json(response, 422, { kind: 'Status', code: 422, reason: 'Invalid', message: 'bad', details }),
    );
    const error = await failure(client.create(widgetType, api.put('a')));
    expect(error).toMatchObject({
      status: 422,
      message: 'creating Widget default/a: bad',
      reason: 'Invalid',
      causes,
      retryAfterMs: 2_000,
    });
  });

  test.each([
    ['HTML', '<html><h1>Bad  Gateway</h1></html>', 'getting Widget default/a: HTTP 502 Bad Gateway: Bad Gateway'],
    ['nothing', '', 'getting Widget default/a: HTTP 502 Bad Gateway'],
  ])('with %s for a body are still errors', async (_what, body, message) => {
    api.script(
      () => true,
      (response) => response.writeHead(502).end(body),
    );
    const error = await failure(client.get(widgetType, a));
    expect(error).toBeInstanceOf(KubeError);
    expect(error).toMatchObject({ status: 502, message });
  });

  test.each(['<html>', '[]', 'null'])('an answer of 200 with %s is not an object', async (body) => {
    api.script(
      () => true,
      (response) => response.writeHead(200).end(body),
    );
    expect(await failure(client.get(widgetType, a))).toBeInstanceOf(KubeConnectionError);
  });

  test('a 404 that is not the API server’s word does not mean that the object is gone', async () => {
    const gone = () => {
      api.script(
        () => true,
        (response) => response.writeHead(404).end('<html>no route</html>'),
      );
    };
    gone();
    const error = await failure(client.get(widgetType, a));
    expect(error).toMatchObject({ status: 404, message: 'getting Widget default/a: HTTP 404 Not Found: no route' });
    expect(isNotFound(error)).toBe(false);
    gone();
    await expect(client.delete(widgetType, a)).rejects.toThrow('no route');
  });

  test.each([
    ['as the body says', undefined, { kind: 'Status', code: 503, details: { retryAfterSeconds: 86_400 } }],
    ['as the header says', '86400', undefined],
  ])('whoever is told to come back tomorrow comes back in a minute: %s', (_, header, body) => {
    const error = errorFromResponse('watching', 503, header, JSON.stringify(body) ?? '');
    expect(error.retryAfterMs).toBe(60_000);
  });

  test.each<[string, unknown, object]>([
    ['a time that is none', { retryAfterSeconds: 'soon' }, { retryAfterMs: undefined }],
    ['a time that has passed', { retryAfterSeconds: -5 }, { retryAfterMs: undefined }],
    ['causes that are none', { causes: [null, 'no', { reason: 'ResourceVersionTooLarge' }] }, { causes: [{}] }],
    ['one cause in place of a list', { causes: { reason: 'ResourceVersionTooLarge' } }, { causes: [] }],
    ['no details', 'none', { causes: [] }],
  ])('with %s are read as far as they go', (_, details, expected) => {
    const body = { kind: 'Status', code: 503, reason: 7, message: ['no'], details };
    const read = [
      errorFromResponse('watching', 503, undefined, JSON.stringify(body)),
      errorFromStatus('watching', body),
    ];
    for (const error of read)
      expect(error).toMatchObject({
        status: 503,
        reason: '',
        message: expect.stringMatching(/: HTTP 50\d /),
        ...expected,
      });
  });

  test('are told apart', () => {
    const terminating = new KubeError('x', { status: 403, message: 'm', causes: [{ reason: 'NamespaceTerminating' }] });
    expect(isNamespaceTerminating(terminating)).toBe(true);
    expect(isGone(new KubeError('x', { status: 410, message: 'm' }))).toBe(true);
    expect(isNotFound(new Error('not found'))).toBe(false);
  });
});

describe('a watch', () => {
  async function watched(chunks: readonly (Uint8Array | string)[]) {
    api.script(
      () => true,
      async (response) => {
        response.writeHead(200);
        for (const chunk of chunks) {
          response.write(chunk);
          await new Promise((resolve) => setImmediate(resolve));
        }
        response.end();
      },
    );
    const events: WatchEvent<Widget>[] = [];
    for await (const event of client.watch<Widget>(widgetType)) events.push(event);
    return events;
  }

  const event = { type: 'ADDED', object: { metadata: { name: 'grün€😀', resourceVersion: '5' } } };

  test('decodes characters and events split anywhere', async () => {
    const bytes = Buffer.from(`${JSON.stringify(event)}\n\n${JSON.stringify(event)}\n{"type":"AD`);
    const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
    expect(await watched(single)).toEqual([event, event]);
  });

  test('turns ERROR events into errors and keeps bookmarks', async () => {
    const bookmark = { type: 'BOOKMARK', object: { metadata: { resourceVersion: '6' } } };
    const error = { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } };
    const events = await watched([`${JSON.stringify(bookmark)}\n${JSON.stringify(error)}\n`]);
    expect(events[0]).toEqual(bookmark);
    expect(events[1]).toMatchObject({ type: 'ERROR', error: { status: 410, message: 'watching widgets: too old' } });
  });

  test.each(['nonsense', '{"type":"ADDED","object":{}}', '{"type":"SURPRISE","object":{}}', 'null'])(
    'refuses %s',
    async (line) => {
      expect(await failure(watched([`${line}\n`]))).toBeInstanceOf(KubeConnectionError);
    },
  );

  test('closes its connection when the loop is left', async () => {
    api.put('a');
    for await (const first of client.watch<Widget>(widgetType, { resourceVersion: '1' })) {
      expect(first.type).toBe('MODIFIED');
      break;
    }
    for (let time = 0; api.openWatches > 0 && time < 400; time++)
      await new Promise((resolve) => setTimeout(resolve, 5));
    expect(api.openWatches).toBe(0);
  });
});

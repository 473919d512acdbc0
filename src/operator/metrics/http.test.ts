import { afterEach, describe, expect, test } from '@jest/globals';
import type { Routes, TelemetryServer } from './http.ts';
import { healthRoutes, metricsRoute, startTelemetryServer } from './http.ts';

const servers: TelemetryServer[] = [];

async function serve(routes: Routes): Promise<string> {
  const server = await startTelemetryServer({ address: { host: '127.0.0.1', port: 0 }, routes });
  servers.push(server);
  return server.url;
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

describe('the telemetry server', () => {
  test('serves metrics and health from one address', async () => {
    let remark: string | undefined;
    let problem: string | undefined = 'the cache of BotUser has not synced';
    const url = await serve({
      ...metricsRoute(async () => ({ contentType: 'text/plain; version=0.0.4', body: 'up 1\n' })),
      ...healthRoutes({ healthy: () => undefined, ready: () => problem, remark: () => remark }),
    });
    const metrics = await fetch(`${url}/metrics?x=1`);
    expect([metrics.status, metrics.headers.get('content-type'), await metrics.text()]).toEqual([
      200,
      'text/plain; version=0.0.4',
      'up 1\n',
    ]);
    const healthy = await fetch(`${url}/healthz`);
    expect([healthy.status, await healthy.text()]).toEqual([200, 'ok\n']);
    const unready = await fetch(`${url}/readyz`);
    expect([unready.status, await unready.text()]).toEqual([503, 'the cache of BotUser has not synced\n']);
    problem = undefined;
    const ready = await fetch(`${url}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([200, 'ok\n']);
    remark = 'may not be read: b';
    const remarked = await fetch(`${url}/readyz`);
    expect([remarked.status, await remarked.text()]).toEqual([200, 'ok; may not be read: b\n']);
  });

  test('answers GET and HEAD on its paths, and nothing else', async () => {
    const url = await serve(healthRoutes({ healthy: () => undefined, ready: () => undefined }));
    const head = await fetch(`${url}/healthz`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '3', '']);
    const post = await fetch(`${url}/healthz`, { method: 'POST' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
    expect((await fetch(`${url}/constructor`)).status).toBe(404);
  });

  test('a scrape is compressed for whoever accepts that', async () => {
    const body = 'up 1\n'.repeat(1_000);
    const url = await serve(metricsRoute(async () => ({ contentType: 'text/plain', body })));
    const ask = async (path: string, accepted: string) => {
      const response = await fetch(`${url}${path}`, { headers: { 'accept-encoding': accepted } });
      const { headers } = response;
      return [headers.get('content-encoding'), Number(headers.get('content-length')), await response.text()];
    };
    const [encoding, length, text] = await ask('/metrics', 'gzip;q=0.8, identity');
    expect([encoding, text]).toEqual(['gzip', body]);
    expect(length).toBeLessThan(500);
    for (const accepted of ['identity', 'deflate', 'gzip;q=0'])
      expect(await ask('/metrics', accepted)).toEqual([null, 5_000, body]);
    expect(await ask('/none', 'gzip')).toEqual([null, 10, 'not found\n']);
  });

  test('a route that fails is a 500 that says nothing', async () => {
    const url = await serve({ '/metrics': () => Promise.reject(new Error('private')) });
    const response = await fetch(`${url}/metrics`);
    expect([response.status, await response.text()]).toEqual([500, 'internal error\n']);
  });

  test('an address in use is named', async () => {
    const url = new URL(await serve({}));
    const again = startTelemetryServer({ address: { host: '127.0.0.1', port: Number(url.port) }, routes: {} });
    await expect(again).rejects.toThrow(`cannot listen on 127.0.0.1:${url.port}: the address is in use`);
  });

  test('close does not wait for clients that stay connected', async () => {
    const url = await serve(healthRoutes({ healthy: () => undefined, ready: () => undefined }));
    await (await fetch(`${url}/healthz`)).text();
    await servers.pop()?.close();
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });
});

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { until } from '../../../test/support/until.ts';
import { type ServerRuntime, systemRuntime } from '../../common/runtime.ts';
import { type CloudApiCoreOptions, createCloudApi } from './core.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }
});

/** Behind a plain server of the test's own. */
async function serve(options: Partial<CloudApiCoreOptions>) {
  const core = await createCloudApi({ apiKeys: ['a=key'], ...options });
  const server = createServer(core.listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const call = (method: string, path: string, body?: object) =>
    fetch(url + path, {
      method,
      headers: { authorization: 'Bearer key', 'service-version': '2', 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return { core, call };
}

/** Whose wall and chance are the same each time it is made. */
function scripted(): ServerRuntime {
  let at = 0;
  const random = () => {
    at = (at + 0.1234567) % 1;
    return at;
  };
  return { ...systemRuntime, clock: { ...systemRuntime.clock, now: () => 86_400_000 }, random };
}

test('the same runtime gives the same answers, to the byte', async () => {
  const seeds = [{ https_edges: [{ id: 'edghts_a', routes: ['edghtsrt_a'] }] }];
  const seen = await Promise.all(
    [1, 2].map(async () => {
      const { core, call } = await serve({ runtime: scripted(), seeds, baseUrl: 'https://cloud.test' });
      const answers = [
        await call('POST', '/bot_users', { name: 'a' }),
        await call('PUT', '/edges/https/edghts_a/routes/edghtsrt_a/saml', { idp_metadata: '<x/>' }),
        await call('GET', '/nope'),
      ];
      await core.close();
      const read = async (answer: Response) => [answer.status, answer.headers.get('date'), await answer.text()];
      return Promise.all(answers.map(read));
    }),
  );
  expect(seen[0]).toEqual(seen[1]);
  expect(seen[0]?.map(([status, date]) => [status, date])).toEqual(
    [201, 200, 404].map((status) => [status, 'Fri, 02 Jan 1970 00:00:00 GMT']),
  );
});

test('closing it cuts requests that hang', async () => {
  const { core, call } = await serve({ faults: ['GET /bot_users hang'], faultControl: true });
  const hanging = call('GET', '/bot_users').catch((error: Error) => error.message);
  await until('the request to be there', () => core.requests().length > 0);
  await core.close();
  expect(await hanging).toBe('fetch failed');
});

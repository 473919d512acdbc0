import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { systemRuntime } from '../../common/runtime.ts';
import { Limiter } from './limiter.ts';
import { call, failure, json, type Respond, type ScriptedAPI, startScriptedAPI, text } from './scripted-api.fixture.ts';

let api: ScriptedAPI;
beforeEach(async () => {
  api = await startScriptedAPI();
});
afterEach(() => api.close());

const head = { 'retry-after': '600' };
const answers: readonly (readonly [string, Respond])[] = [
  ['whole', text(429, 'slow down', head)],
  [
    'cut off in its body',
    (response) => {
      response.writeHead(429, { ...head, 'content-length': '100' });
      response.write('{"msg":');
      setTimeout(() => response.socket?.destroy(), 50);
    },
  ],
  ['larger than is read', text(429, 'x'.repeat(9 * 1024 * 1024), head)],
];

test.each(answers)('how long a 429 asks to wait is kept to where its answer is %s', async (_, respond) => {
  const limiter = new Limiter({ ...systemRuntime, requestsPerMinute: 60 });
  const client = api.client({ limiter: () => limiter });
  api.play(respond, json(200, { bot_users: [] }));
  await failure(client.botUsers.list({}, call));
  expect(limiter.isPaused).toBe(true);
  await failure(client.botUsers.list({}, call));
  expect(api.requests).toHaveLength(1);
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemRuntime } from '../../common/runtime.ts';
import { bot, json, type ScriptedAPI, startScriptedAPI } from '../cloud/scripted-api.fixture.ts';
import { accountCheck } from './account.ts';

describe('the account', () => {
  let api: ScriptedAPI;
  beforeAll(async () => {
    api = await startScriptedAPI();
  });
  afterAll(() => api.close());
  const credential = { key: () => 'key-for-tests', watch: async () => {} };
  const check = () => accountCheck({ ...systemRuntime, apiURL: api.url, credential });
  const page = { bot_users: [bot], uri: 'u', next_page_uri: null };

  test('is asked once', async () => {
    api.play(json(200, page));
    expect(await check().run()).toEqual({ at: api.url, findings: [] });
    expect(api.requests.map(({ url }) => url)).toEqual(['/bot_users?limit=1']);
  });

  test('a key that is refused is found, a cloud that does not answer is not found out', async () => {
    api.play(json(401, {}));
    const [finding] = (await check().run()).findings;
    expect(finding?.cure).toContain('account.existingSecret');
    await expect(check().run()).rejects.toThrow('500');
  });

  test('clocks that are far apart', async () => {
    api.play(json(200, page, { date: new Date(Date.now() - 600_000).toUTCString() }));
    const [finding] = (await check().run()).findings;
    expect(finding?.problem).toMatch(/^the clocks are (599|600|601) s apart$/);
  });
});

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemRuntime } from '../../common/runtime.ts';
import { Limiter } from './limiter.ts';
import { bot, call, error, failure, json, type ScriptedAPI, startScriptedAPI } from './scripted-api.fixture.ts';

let api: ScriptedAPI;

beforeEach(async () => {
  api = await startScriptedAPI();
});

afterEach(() => api.close());

describe('the API key', () => {
  test('is asked for with every request', async () => {
    let key = 'one';
    const client = api.client({ apiKey: () => key });
    api.play(json(200, bot), json(200, bot));
    await client.botUsers.get('bot_1', call);
    key = 'two';
    await client.botUsers.get('bot_1', call);
    expect(api.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer one', 'Bearer two']);
  });

  test.each([
    ['empty', () => ''],
    ['broken by a newline', () => 'secret\nX-Evil: 1'],
    [
      'not there',
      () => {
        throw new Error('no Secret');
      },
    ],
  ])('that is %s is Unauthorized without a request', async (_, apiKey) => {
    const failed = await failure(api.client({ apiKey }).botUsers.create({}, call));
    expect(failed).toMatchObject({ reason: 'Unauthorized', definite: true });
    expect(failed.message).not.toContain('secret');
    expect(api.requests).toHaveLength(0);
  });

  test('that was refused is not sent again, not even by calls that were waiting', async () => {
    let key = 'revoked';
    const limiter = new Limiter({ ...systemRuntime, requestsPerMinute: 1 });
    const client = api.client({ limiter: () => limiter, apiKey: () => key });
    api.play(error(401), json(200, bot));
    const first = failure(client.botUsers.get('bot_1', call));
    const waiting = failure(client.botUsers.get('bot_1', call));
    expect(await first).toMatchObject({ reason: 'Unauthorized', code: 'ERR_EDGE_401' });
    limiter.setRequestsPerMinute(100);
    expect(await waiting).toMatchObject({ reason: 'Unauthorized', definite: true, status: 401 });
    expect(await failure(client.reservedAddrs.delete('ra_1', call))).toMatchObject({
      message: 'the API answered 401: ERR_EDGE_401; replace the API key',
    });
    expect(api.requests).toHaveLength(1);
    key = 'replaced';
    expect(await client.botUsers.get('bot_1', call)).toEqual(bot);
  });

  test('that may not use one resource may use the others, if it may list', async () => {
    const client = api.client();
    api.play(error(403), json(200, { bot_users: [] }), json(200, bot));
    expect(await failure(client.reservedAddrs.get('ra_1', call))).toMatchObject({
      reason: 'Unauthorized',
      status: 403,
    });
    expect(await client.botUsers.get('bot_1', call)).toEqual(bot);
  });
});

describe('secrets', () => {
  const canary = 'shh-"Canary"/value+9Q&<7>';
  const route = { edgeID: 'e', routeID: 'r' };
  const document = `<EntityDescriptor entityID="https://idp.test"><X509Certificate>${'MIIDdzCCAl'.repeat(20)}</X509Certificate></EntityDescriptor>`;
  const of = (client: ReturnType<ScriptedAPI['client']>) => {
    const { saml, webhookVerification } = client.routeModules;
    return {
      'PUT of a webhook secret': () => webhookVerification.replace(route, { provider: 'p', secret: canary }, call),
      'GET of a webhook secret': () => webhookVerification.get(route, call),
      'DELETE of a webhook secret': () => webhookVerification.delete(route, call),
      'PUT of SAML metadata': () => saml.replace(route, { idp_metadata: document }, call),
      'GET of SAML metadata': () => saml.get(route, call),
      'DELETE of SAML metadata': () => saml.delete(route, call),
    };
  };

  test.each([
    'PUT of a webhook secret',
    'GET of a webhook secret',
    'DELETE of a webhook secret',
    'PUT of SAML metadata',
    'GET of SAML metadata',
    'DELETE of SAML metadata',
  ] as const)('%s: of a refusal only code and status are told', async (name) => {
    for (const status of [400, 404, 409, 422, 500]) {
      const msg = `something about ${canary} and nobody-knows-this and ${document}`;
      api.play(json(status, { error_code: 'ERR_EDGE_9', msg }));
      const outcome = await of(api.client())
        [name]()
        .catch((thrown: Error) => thrown);
      if (outcome instanceof Error)
        expect(outcome.message).toMatch(new RegExp(`^\\S+: the API answered ${status}: ERR_EDGE_9$`));
      else expect(status).toBe(404);
    }
  });

  test('a key is told by no answer about it', async () => {
    for (const status of [401, 403]) {
      api.play(
        json(status, { error_code: 'ERR_EDGE_9', msg: 'the key ending in 4Xq, of nobody-knows-whom, is wrong' }),
      );
      const failed = await failure(api.client().botUsers.list({}, call));
      expect(failed.message).toBe(`the API answered ${status}: ERR_EDGE_9; replace the API key`);
    }
  });

  test.each([canary, 'key-for-tests', 'ERR_KEY_fortests'])('the code %s is none', async (code) => {
    api.play(json(400, { error_code: code, msg: 'no' }));
    expect(await failure(api.client().botUsers.get('bot_1', call))).toMatchObject({
      message: 'bot_users.get: the API answered 400: no',
      code: undefined,
    });
  });

  test('a code of the form of codes that is a secret is none', async () => {
    api.play(json(400, { error_code: 'ERR_KEY_1234', msg: 'no' }));
    const client = api.client({ apiKey: () => 'ERR_KEY_1234' });
    expect(await failure(client.botUsers.get('bot_1', call))).toMatchObject({ code: undefined });
  });

  test.each([
    ['the webhook secret', canary],
    ['its tail', canary.slice(-9)],
    ['its middle', canary.slice(4, 13)],
    ['its base64', Buffer.from(canary).toString('base64')],
    ['a part of the metadata', document.slice(1, 40)],
    ['markup that was never sent', '<Other><Secret>x</Secret>'],
    ['a long encoded run', Buffer.from(document).toString('base64')],
  ])('%s, once sent, is not told by a later answer about something else', async (_, told) => {
    api.play(json(404, {}), json(404, {}), json(400, { msg: `it is ${told}` }), json(400, { msg: `it is ${told}` }));
    const client = api.client();
    await of(client)
      ['PUT of a webhook secret']()
      .catch(() => {});
    await of(client)
      ['PUT of SAML metadata']()
      .catch(() => {});
    for (const attempt of [() => client.botUsers.get('bot_1', call), () => client.reservedAddrs.delete('ra_1', call)]) {
      const { message } = await failure(attempt());
      expect(message).toMatch(/: the API answered 400: it is (\[redacted\]\S{0,7})+$/);
      expect(message).not.toContain(told);
    }
  });

  test('the key is told by no answer', async () => {
    api.play(json(400, { msg: 'the end of it is r-tests, all of it key-for-tests, and 6b65792d666f722d' }));
    const { message } = await failure(api.client().botUsers.get('bot_1', call));
    expect(message).toBe(
      'bot_users.get: the API answered 400: the end of it is r-tests, all of it [redacted], and [redacted]',
    );
  });

  test.each([
    ['of the key', 'y-for-te 6b65792d'],
    ['of a secret that another resource sent', canary.slice(4, 13)],
  ])('nobody learns by an answer what of his own words is a part %s', async (_, guess) => {
    api.play(json(404, {}), json(400, { msg: `no name like "${guess}"` }), json(400, { msg: `no id ${guess}` }));
    const client = api.client();
    await failure(of(client)['PUT of a webhook secret']());
    const { message } = await failure(client.botUsers.create({ name: `a ${guess}` }, call));
    expect(message).toBe(`bot_users.create: the API answered 400: no name like "${guess}"`);
    expect((await failure(client.botUsers.get(guess, call))).message).toContain(`no id ${guess}`);
  });

  test('a secret that is sent is told by no answer to that', async () => {
    api.play(json(400, { msg: `it is ${canary.slice(4, 13)}` }));
    const sent = { provider: 'p', secret: canary };
    const { message } = await failure(api.client().routeModules.webhookVerification.replace(route, sent, call));
    expect(message).toMatch(/400$/);
  });

  test('what is not as expected names no key of the service', async () => {
    api.play(json(200, { ...bot, active: 'key-for-tests' }));
    const { message } = await failure(api.client().botUsers.get('bot_1', call));
    expect(message).toBe('bot_users.get: the response is malformed: active: expected boolean');
  });
});

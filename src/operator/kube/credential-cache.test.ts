import { expect, test } from '@jest/globals';
import { systemClock } from '../../common/clock.ts';
import { CredentialCache } from './credential-cache.ts';

function setup() {
  let [now, token] = [0, 'first' as string | undefined];
  const load = async () => {
    if (token === undefined) throw new Error('token: no such file');
    return { headers: { authorization: token }, tls: {} };
  };
  const access = { server: 'https://kube', namespace: 'edge', inCluster: true, proxyURL: undefined };
  const cache = new CredentialCache({ ...access, load: async () => load }, { ...systemClock, now: () => now });
  return {
    cache,
    write: (text: string | undefined) => {
      token = text;
    },
    pass: (seconds: number) => {
      now += seconds * 1_000;
    },
    used: async () => (await cache.get()).headers.authorization,
  };
}

test('a token is read anew every minute; one whose file cannot be read then is used as long as it is taken', async () => {
  const { cache, write, pass, used } = setup();
  expect(await used()).toBe('first');
  write(undefined);
  pass(60);
  expect(await used()).toBe('first');
  write('second');
  pass(60);
  expect(await used()).toBe('second');
  const refused = await cache.get();
  write(undefined);
  await expect(cache.renew(refused)).rejects.toThrow('no such file');
  await expect(cache.get()).rejects.toThrow('no such file');
  write('third');
  expect(await used()).toBe('third');
});

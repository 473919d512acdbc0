import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../../src/operator/kube/types.ts';
import { annotation, holderFinalizer } from '../../../src/operator/reconcile/resource/annotations.ts';
import type { ManagedObject } from '../../../src/operator/reconcile/resource/resource.ts';
import { until } from '../../support/until.ts';
import { namespaceType, secretType, startWorld, type World } from '../../support/world.ts';
import { accountsIn, botsIn, keys, mutations, ref } from './account-setting.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());
const { withSetting, troubled, secretIn } = accountsIn(() => world);

describe('deletion', () => {
  type Step = 'secret' | 'account' | 'user';
  const orders: readonly (readonly [Step, Step, Step])[] = [
    ['secret', 'account', 'user'],
    ['secret', 'user', 'account'],
    ['account', 'secret', 'user'],
    ['account', 'user', 'secret'],
    ['user', 'secret', 'account'],
    ['user', 'account', 'secret'],
  ];
  test.concurrent.each(orders)('%s, then %s, then %s: all go, and nothing stays in the cloud', (...order) =>
    withSetting(async ({ cloud, start, account, bot, writeSecret, deleteSecret }) => {
      start('--resync-interval', '1h');
      await writeSecret(keys[0]);
      const [acct, a] = [await account(), await bot('a')];
      await world.reason(a, 'Available');
      const perform: Record<Step, () => Promise<unknown>> = {
        secret: async () => {
          await deleteSecret();
          // Where the account is going already, nobody needs its key any more.
          if (order.indexOf('secret') < order.indexOf('account')) await world.reason(acct, 'DependencyNotReady');
        },
        account: async () => {
          await world.delete(acct);
          if (order.indexOf('account') < order.indexOf('user')) await troubled(acct, 'Deleting', /BotUser a$/);
          else await world.gone(acct);
        },
        user: async () => {
          await world.delete(a);
          await world.gone(a);
        },
      };
      for (const step of order) await perform[step]();
      await world.gone(acct);
      expect(await botsIn(cloud)).toEqual([]);
    }),
  );

  test.concurrent('of users works while the account is not Ready', () =>
    withSetting(async ({ cloud, start, account, bot, writeSecret }) => {
      start('--resync-interval', '1s');
      await writeSecret(keys[0]);
      const [acct, a] = [await account(), await bot('a')];
      await world.reason(a, 'Available');
      cloud.fault('GET /bot_users status=500');
      await world.reason(acct, 'Unreachable');
      await world.delete(a);
      await world.gone(a);
      expect(mutations(cloud).at(-1)?.status).toBe(204);
    }));

  test.concurrent('of a namespace with account, Secret and users in it completes', () =>
    withSetting(async ({ namespace, cloud, start, account, bot, writeSecret }) => {
      start('--resync-interval', '1h');
      await writeSecret(keys[0]);
      const objects = [await account({ endpointMirror: {} }), await bot('a'), await bot('b'), await bot('c')];
      for (const object of objects) await world.reason(object, 'Available');
      await world.client.delete(namespaceType, { name: namespace });
      // A real API server on its own has nothing that empties a namespace: the Secret goes first there.
      if (world.kube.kind === 'real') {
        await world.client.delete(secretType, { namespace, name: ref.name });
        for (const object of objects) await world.delete(object);
      }
      for (const object of objects) await world.gone(object);
      if (world.kube.kind === 'embedded') {
        const probe = async () =>
          (await world.client.get<KubeObject>(namespaceType, { name: namespace })) === undefined;
        await until('the namespace to be gone', probe);
      }
      expect(await botsIn(cloud)).toEqual([]);
    }));

  test.concurrent('of all of it while no operator runs, the Secret first, is finished by the next', () =>
    withSetting(async ({ namespace, cloud, start, account, bot, writeSecret, deleteSecret }) => {
      const first = start('--resync-interval', '1h');
      await writeSecret(keys[0]);
      const [acct, a] = [await account(), await bot('a')];
      await world.reason(a, 'Available');
      await first.stop();
      await deleteSecret();
      await world.delete(acct);
      await world.delete(a);
      start('--resync-interval', '1h');
      await world.gone(a);
      await world.gone(acct);
      expect(await botsIn(cloud)).toEqual([]);
      await until('the Secret to be gone', async () => (await secretIn(namespace)) === undefined);
    }));

  test.concurrent('of an account by force lets go of its Secret', () =>
    withSetting(async ({ namespace, start, account, writeSecret, deleteSecret }) => {
      start('--resync-interval', '1h');
      await writeSecret(keys[0]);
      const acct = await account();
      await world.reason(acct, 'Available');
      expect((await secretIn(namespace))?.metadata.finalizers).toEqual([holderFinalizer(acct)]);
      await world.annotate(acct, { [annotation.forceOrphan]: 'true' });
      await world.delete(acct);
      await world.gone(acct);
      await deleteSecret();
      await until('the Secret to be gone', async () => (await secretIn(namespace)) === undefined);
    }));

  test.concurrent('of a Secret alone is nothing to wait for, nor of one that is not the account’s any more', () =>
    withSetting(async ({ namespace, start, account, writeSecret, deleteSecret }) => {
      start('--resync-interval', '1h');
      await writeSecret(keys[0]);
      await writeSecret(keys[1], 'other');
      const acct = await account();
      await world.reason(acct, 'Available');
      await account({ apiKeySecretRef: { ...ref, name: 'other' } });
      await world.reason(acct, 'Available');
      expect((await secretIn(namespace, 'other'))?.metadata.finalizers).toEqual([holderFinalizer(acct)]);
      expect((await secretIn(namespace))?.metadata.finalizers).toBeUndefined();
      await deleteSecret('other');
      await troubled(acct, 'DependencyNotReady', /Secret .*other does not exist/);
      await writeSecret(keys[1], 'other');
      await world.reason(acct, 'Available');
    }));

  test.concurrent('of a Secret is nothing to wait for either while the account is rejected, after a restart too', () =>
    withSetting(async ({ namespace, start, account, writeSecret, deleteSecret }) => {
      const first = start('--resync-interval', '1h');
      await writeSecret(keys[0]);
      const acct = await account();
      await world.reason(acct, 'Available');
      const refused = () => account({ apiURL: 'http://127.0.0.1:9' });
      await refused();
      await world.reason(acct, 'Rejected');
      await deleteSecret();
      await until('the Secret to be gone', async () => (await secretIn(namespace)) === undefined);
      await writeSecret(keys[0]);
      await account();
      await world.reason(acct, 'Available');
      await refused();
      await world.reason(acct, 'Rejected');
      // Another of the same name and content, which is read half a second after the first.
      await until('the new Secret to be held', async () =>
        (await secretIn(namespace))?.metadata.finalizers?.includes(holderFinalizer(acct)),
      );
      await first.stop();
      await start('--resync-interval', '1h').ready();
      await deleteSecret();
      await until('the Secret to be gone', async () => (await secretIn(namespace)) === undefined);
    }));

  describe('of a Secret whose finalizer somebody else takes off', () => {
    /** Answers how long it took until the Secret was held again, in milliseconds. */
    async function heldAgain(acct: ManagedObject): Promise<number> {
      const { namespace = '' } = acct.metadata;
      const body = { metadata: { finalizers: null } };
      await world.client.patch(secretType, { name: ref.name, namespace }, { type: 'merge', body });
      const since = performance.now();
      await until('the Secret to be held again', async () =>
        (await secretIn(namespace))?.metadata.finalizers?.includes(holderFinalizer(acct)),
      );
      return performance.now() - since;
    }

    test.concurrent('waits all the same', () =>
      withSetting(async ({ namespace, start, account, writeSecret, deleteSecret }) => {
        start('--resync-interval', '1h');
        await writeSecret(keys[0]);
        const acct = await world.reason(await account(), 'Available');
        await heldAgain(acct);
        await world.delete(acct);
        await world.gone(acct);
        await deleteSecret();
        await until('the Secret to be gone', async () => (await secretIn(namespace)) === undefined);
      }));

    test.concurrent('again and again: each time it is held again, and ever later', () =>
      withSetting(async ({ start, account, writeSecret }) => {
        start('--resync-interval', '1h');
        await writeSecret(keys[0]);
        const acct = await world.reason(await account(), 'Available');
        let times = 0;
        for (let ms = 0; ms < 3_000; times += 1) ms = await heldAgain(acct);
        // The first ten or so at once.
        expect(times).toBeGreaterThan(5);
        expect(times).toBeLessThan(30);
      }));
  });

  test.concurrent('with the key lost for good, the users say so and can be let go by force', () =>
    withSetting(async ({ cloud, start, account, bot, writeSecret, loseSecret }) => {
      const first = start('--resync-interval', '1h');
      await writeSecret(keys[0]);
      const [acct, a] = [await account(), await bot('a')];
      const created = await world.reason(a, 'Available');
      await first.stop();
      await loseSecret();
      await world.delete(acct);
      await world.delete(a);
      start('--resync-interval', '1h');
      await troubled(a, 'DependencyNotReady', /has lost its API key: Secret .* does not exist.*force-orphan/);
      await world.reason(acct, 'Deleting');
      await world.annotate(a, { [annotation.forceOrphan]: 'true' });
      await world.gone(a);
      await world.gone(acct);
      expect(await botsIn(cloud)).toEqual(['a bot']);
      await until('the event that names what is left', async () => {
        const events = await world.events(a);
        return events.some(({ reason, note }) => reason === 'Orphaned' && note.includes(String(created.status?.id)));
      });
    }));

  test.concurrent('a namespace that may not use the default account any more can still have deleted what it made', () =>
    withSetting(async ({ namespace, start, cloud }) => {
      const bot = (name: string) => world.apply('BotUser', namespace, name, { name });
      const flag = '--default-account-namespaces';
      const first = start(flag, `x,${namespace}`, '--resync-interval', '1h');
      const made = await bot('a');
      const { status } = await world.reason(made, 'Available');
      await first.stop();
      start(flag, 'x,y', '--resync-interval', '1h');
      const fresh = await bot('b');
      await troubled(fresh, 'Rejected', /--default-account-namespaces.*spec\.accountRef/);
      await world.annotate(made, { [annotation.reconcileAt]: 'now' });
      await troubled(made, 'Rejected', /--default-account-namespaces/);
      expect((await world.get(made))?.metadata.annotations).toMatchObject({ [annotation.externalID]: status?.id });
      expect(await botsIn(cloud, cloud.apiKey)).toEqual(['a']);
      for (const each of [made, fresh]) {
        await world.delete(each);
        await world.gone(each);
      }
      expect(await botsIn(cloud, cloud.apiKey)).toEqual([]);
    }));

  test.concurrent('an id that no request can carry is Rejected, and no reason to stay', () =>
    withSetting(async ({ namespace, start, cloud }) => {
      start('--resync-interval', '1h');
      const bot = await world.apply('BotUser', namespace, 'a', { name: 'a' }, { [annotation.externalID]: '..' });
      await troubled(bot, 'Rejected', /external-id is "\.\.", which is no id/);
      await world.delete(bot);
      await world.gone(bot);
      expect(cloud.requests()).toEqual([]);
    }));

  test.concurrent('with the key lost, a Secret that comes back finishes it', () =>
    withSetting(async ({ cloud, start, account, bot, writeSecret, loseSecret }) => {
      const first = start('--resync-interval', '1h');
      await writeSecret(keys[0]);
      const [acct, a] = [await account(), await bot('a')];
      await world.reason(a, 'Available');
      await first.stop();
      await loseSecret();
      await world.delete(acct);
      await world.delete(a);
      start('--resync-interval', '1h');
      await troubled(a, 'DependencyNotReady', /has lost its API key/);
      await writeSecret(keys[1]);
      await world.gone(a);
      await world.gone(acct);
      expect(await botsIn(cloud)).toEqual([]);
    }));
});

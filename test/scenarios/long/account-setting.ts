import type { KubeObject } from '../../../src/operator/kube/types.ts';
import { conditionOf, type ManagedObject } from '../../../src/operator/reconcile/resource/resource.ts';
import { startTestCloud, type TestCloud } from '../../support/cloud-api.ts';
import { inSetting, type Setting } from '../../support/setting.ts';
import { until } from '../../support/until.ts';
import { secretMark, secretType, type World } from '../../support/world.ts';

export const keys = [`${secretMark}-1`, `${secretMark}-2`] as const;
export const ref = { name: 'keys', key: 'api-key' };
const user = { name: 'a bot', accountRef: { name: 'acct' } };

export interface AccountSetting extends Setting {
  account(spec?: object, name?: string): Promise<ManagedObject>;
  bot(name: string, spec?: object): Promise<ManagedObject>;
  writeSecret(apiKey: string, name?: string): Promise<void>;
  deleteSecret(name?: string): Promise<void>;
  /** As when somebody takes the finalizers away too. */
  loseSecret(): Promise<void>;
  /** A second cloud that knows the same keys. */
  another(): Promise<TestCloud>;
}

/**
 * For tests of CloudAccounts and the resources that use them. Every test has an operator, a namespace and a cloud of its
 * own; the cloud knows the operator's own account and another one, `tenant`, that has two keys.
 */
export function accountsIn(worldOf: () => World) {
  async function withSetting(use: (setting: AccountSetting) => Promise<void>): Promise<void> {
    const world = worldOf();
    const cloudOptions = { apiKeys: keys.map((key) => `tenant=${key}`) };
    const others: TestCloud[] = [];
    const useWithAccounts = ({ namespace, ...setting }: Setting) =>
      use({
        ...setting,
        namespace,
        account: (spec = {}, name = 'acct') =>
          world.apply('CloudAccount', namespace, name, { apiKeySecretRef: ref, ...spec }),
        bot: (name, spec = {}) => world.apply('BotUser', namespace, name, { ...user, ...spec }),
        writeSecret: (apiKey, name = ref.name) => world.give('Secret', namespace, name, { [ref.key]: `${apiKey}\n` }),
        deleteSecret: async (name = ref.name) => {
          await world.client.delete(secretType, { namespace, name });
        },
        loseSecret: async () => {
          const at = { namespace, name: ref.name };
          await world.client.patch(secretType, at, { type: 'merge', body: { metadata: { finalizers: null } } });
          await world.client.delete(secretType, at);
        },
        another: async () => {
          const other = await startTestCloud(cloudOptions);
          others.push(other);
          return other;
        },
      });
    await inSetting(world, useWithAccounts, cloudOptions).finally(() => Promise.all(others.map((each) => each.stop())));
  }

  /** Waits until Ready says `reason`, and a message like this one. */
  const troubled = (object: ManagedObject, reason: string, message: RegExp) =>
    until(`${object.kind} ${object.metadata.name}: ${reason} ${message}`, async () => {
      const ready = await readyOf(object);
      return ready?.reason === reason && message.test(ready.message);
    });
  const secretIn = (namespace: string, name: string = ref.name) =>
    worldOf().client.get<KubeObject>(secretType, { namespace, name });
  const readyOf = async (object: ManagedObject) => {
    const found = await worldOf().get(object);
    return found && conditionOf(found, 'Ready');
  };
  /** The bot of this name beside another object. */
  const botOf = async (beside: ManagedObject, name: string): Promise<ManagedObject> => {
    const namespace = beside.metadata.namespace ?? '';
    const found = (await worldOf().list('BotUser', namespace)).find(({ metadata }) => metadata.name === name);
    if (found === undefined) throw new Error(`no BotUser ${name}`);
    return found;
  };

  return { withSetting, troubled, secretIn, botOf };
}

/** Names of the bot users that a key shows. */
export async function botsIn(cloud: TestCloud, key: string = keys[0]): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${key}`, 'service-version': '2' };
  const response = await fetch(`${cloud.url}/bot_users`, { headers });
  const { bot_users } = (await response.json()) as { bot_users: { name: string }[] };
  return bot_users.map(({ name }) => name).sort();
}

export const checks = (cloud: TestCloud) =>
  cloud.requests().filter(({ path, query }) => path === '/bot_users' && query.limit === '1');
export const mutations = (cloud: TestCloud) => cloud.requests().filter(({ method }) => method !== 'GET');

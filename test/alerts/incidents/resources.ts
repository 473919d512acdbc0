import { setTimeout as sleep } from 'node:timers/promises';
import type { Incident } from '../incident.ts';
import { refusal } from '../release.ts';

const plenty = ['--requests-per-minute', '10000'];
const bots = { kind: 'BotUser' };

function endpoint(id: string) {
  const proto = 'tcp' as const;
  const type = 'ephemeral' as const;
  const hostport = `${id}.example.test:443`;
  return { id, public_url: `tcp://${hostport}`, proto, type, hostport, tunnel: 'tn_1' };
}

export const resources: readonly Incident[] = [
  {
    what: 'the answer to a create is lost while somebody makes the same',
    alert: 'EdgeOperatorAmbiguousCreate',
    names: bots,
    arrange: async (release) => {
      const { cloud, world } = release;
      await release.start(plenty);
      return async () => {
        // Just before the create, by clocks that may differ: made after it, the operator might not see it in time.
        const { body } = await cloud.call('POST', '/bot_users', { name: 'twin' });
        cloud.fault('POST /bot_users drop count=1');
        const bot = await release.bot('twin', { resyncIntervalSeconds: 3_600 });
        return () => world.annotate(bot, { 'edge-operator.dev/external-id': body.id });
      };
    },
  },
  {
    what: 'the cloud refuses a spec',
    alert: 'EdgeOperatorResourcesStalled',
    names: { ...bots, reason: 'Rejected' },
    inShort: true,
    arrange: async (release) => {
      await release.start(plenty);
      return async () => {
        release.cloud.fault('POST /bot_users status=400');
        await release.bot('refused');
        return async () => {
          release.cloud.clearFaults();
          await release.bot('refused', { active: false });
        };
      };
    },
  },
  {
    what: 'two resources want one object',
    alert: 'EdgeOperatorResourcesStalled',
    names: { ...bots, reason: 'Conflict' },
    arrange: async (release) => {
      const { world } = release;
      await release.start(plenty);
      const first = await world.reason(await release.bot('first'), 'Available');
      return async () => {
        const id = { 'edge-operator.dev/external-id': String(first.status?.id) };
        const second = await world.apply('BotUser', release.namespace, 'second', { name: 'first' }, id);
        return () => world.delete(second);
      };
    },
  },
  {
    what: 'a route does not exist',
    alert: 'EdgeOperatorResourcesNotReady',
    names: { kind: 'HttpsRouteModules', reason: 'DependencyNotReady' },
    arrange: async (release) => {
      await release.start(plenty);
      return async () => {
        const spec = { edgeID: 'edghts_none', routeID: 'edghtsrt_none', compression: {} };
        const modules = await release.world.apply('HttpsRouteModules', release.namespace, 'route', spec);
        return () => release.world.delete(modules);
      };
    },
  },
  {
    what: 'a Secret of an account is missing',
    alert: 'EdgeOperatorResourcesNotReady',
    names: { kind: 'CloudAccount', reason: 'DependencyNotReady' },
    arrange: async (release) => {
      const { cloud, namespace, world } = release;
      await release.start(plenty);
      return async () => {
        const spec = { apiKeySecretRef: { name: 'key', key: 'apiKey' }, apiURL: cloud.url };
        await world.apply('CloudAccount', namespace, 'account', spec);
        return () => world.give('Secret', namespace, 'key', { apiKey: cloud.apiKey });
      };
    },
  },
  {
    what: 'somebody changes the objects in the cloud',
    alert: 'EdgeOperatorDriftBurst',
    names: bots,
    arrange: async (release) => {
      const { cloud, world } = release;
      await release.start(plenty);
      await release.readyBots(16);
      return async () => {
        for (const bot of await world.list('BotUser', release.namespace)) {
          await cloud.call('PATCH', `/bot_users/${bot.status?.id}`, { name: 'by somebody' });
          await world.annotate(bot, { 'edge-operator.dev/reconcile-at': 'now' });
          await sleep(500);
        }
        return async () => {};
      };
    },
  },
  {
    what: 'lists of endpoints are refused',
    alert: 'EdgeOperatorMirrorStale',
    names: { account: 'default' },
    arrange: async (release) => {
      await release.start([...plenty, '--mirror-interval', '1s', '--mirror-namespace', release.namespace]);
      await release.readyBots(2);
      return async () => {
        release.cloud.fault('GET /endpoints status=400');
        return async () => release.cloud.clearFaults();
      };
    },
  },
  {
    what: 'ConfigMaps may not be written',
    alert: 'EdgeOperatorMirrorPending',
    names: { account: 'default' },
    arrange: async (release) => {
      const { args } = await release.throughProxy();
      await release.start([...args, '--mirror-interval', '1s', '--mirror-namespace', release.namespace]);
      return async () => {
        release.intercept = async ({ method, path }) =>
          method !== 'GET' && path.includes('/configmaps') ? refusal(403, 'Forbidden') : undefined;
        release.cloud.seed({ endpoints: [endpoint('ep_one')] });
        return async () => {
          release.intercept = async () => undefined;
        };
      };
    },
  },
];

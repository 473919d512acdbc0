import { definitions } from '../../../src/operator/kinds/index.ts';
import type { ResourceType } from '../../../src/operator/kube/types.ts';
import { loadCrds } from '../../../src/reference/kube-api/server.ts';
import { installCrds, kubeRequests } from '../../support/kube-api.ts';
import { until } from '../../support/until.ts';
import type { Incident } from '../incident.ts';
import { refusal } from '../release.ts';

const definitionType: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};
const [bots] = definitions.filter(({ type }) => type.kind === 'BotUser');

const isStatusOf = (plural: string, path: string) => new RegExp(`/${plural}/[^/]+/status`).test(path);

export const kubernetes: readonly Incident[] = [
  {
    what: 'the API server is away',
    alert: 'EdgeOperatorKubernetesUnreachable',
    // What it waits between two tries, up to 30 s, is not in a hurry.
    factor: 6,
    arrange: async (release) => {
      const away = { now: false };
      const { proxy, args } = await release.throughProxy(async () => {
        if (away.now) await new Promise((_, reject) => setImmediate(reject));
        return undefined;
      });
      await release.start(args);
      return async () => {
        away.now = true;
        proxy.cut();
        return async () => {
          away.now = false;
        };
      };
    },
  },
  {
    what: 'the definition of a kind is deleted',
    alert: 'EdgeOperatorKindNotWatched',
    names: { resource: 'botusers' },
    inShort: true,
    arrange: async (release) => {
      const { client, kube } = release.world;
      const { proxy, args } = await release.throughProxy();
      await release.start(args);
      return async () => {
        await client.delete(definitionType, { name: 'botusers.edge-operator.dev' });
        // As the API server does; the embedded one lets watches of what it serves no more live on.
        proxy.cut();
        return () => {
          const crds = loadCrds('crds').filter((crd) => JSON.stringify(crd).includes(`"${bots?.type.plural}"`));
          return installCrds(kubeRequests(kube.url, kube.token), crds);
        };
      };
    },
  },
  {
    what: 'the RoleBinding of a watched namespace is deleted',
    alert: 'EdgeOperatorNamespaceRefused',
    names: { watched: /^t2-/ },
    arrange: async (release) => {
      const second = await release.world.namespace();
      const { proxy, args } = await release.throughProxy();
      await release.start([...args, '--watch-namespaces', `${release.namespace},${second}`]);
      return async () => {
        release.intercept = async ({ path }) =>
          path.includes(`/namespaces/${second}/`) ? refusal(403, 'Forbidden') : undefined;
        proxy.cut();
        return async () => {
          release.intercept = async () => undefined;
        };
      };
    },
  },
  {
    what: 'a write of one resource hangs',
    alert: 'EdgeOperatorReconcileStuck',
    names: { controller: 'botuser' },
    arrange: async (release) => {
      const { proxy, args } = await release.throughProxy();
      const operator = await release.start(args);
      return async () => {
        const held = proxy.hold('before', ({ method, path }) => method === 'PATCH' && isStatusOf('botusers', path));
        await release.bot('stuck');
        await held;
        return async () => {
          await release.start(args);
          await release.end(operator, 'SIGKILL');
        };
      };
    },
  },
  {
    what: 'writes hang, and every worker with them',
    alert: 'EdgeOperatorQueueStuck',
    names: { controller: 'botuser' },
    arrange: async (release) => {
      const { proxy, args } = await release.throughProxy();
      const operator = await release.start([...args, '--concurrency', '1']);
      await release.readyBots(3);
      return async () => {
        const held = proxy.hold('before', ({ method, path }) => method === 'PATCH' && isStatusOf('botusers', path));
        await release.bot('stuck');
        await held;
        await release.bots(3, 'behind');
        return async () => {
          await release.start(args);
          await release.end(operator, 'SIGKILL');
        };
      };
    },
  },
  {
    what: 'the API server takes its time over writes',
    alert: 'EdgeOperatorQueueSlow',
    names: { controller: 'botuser' },
    arrange: async (release) => {
      let slowMs = 0;
      const { args } = await release.throughProxy(async ({ method, path }) => {
        if (method === 'PATCH' && isStatusOf('botusers', path)) await new Promise((done) => setTimeout(done, slowMs));
        return undefined;
      });
      await release.start([...args, '--concurrency', '1', '--requests-per-minute', '10000']);
      return async () => {
        slowMs = 700;
        await release.bots(90);
        return async () => {
          slowMs = 0;
        };
      };
    },
  },
  {
    what: 'the API server refuses writes',
    alert: 'EdgeOperatorReconcileErrors',
    names: { controller: 'botuser' },
    inShort: true,
    arrange: async (release) => {
      const { args } = await release.throughProxy();
      await release.start([...args, '--requests-per-minute', '10000']);
      await release.readyBots(4);
      const stopAsking = release.asking('BotUser', 300);
      return async () => {
        release.intercept = async ({ method, path }) =>
          method === 'PATCH' && isStatusOf('botusers', path) ? refusal(500, 'InternalError') : undefined;
        return async () => {
          release.intercept = async () => undefined;
          await until('the writes', async () => {
            const [one] = await release.world.list('BotUser', release.namespace);
            return one?.status?.lastHandledReconcileAt !== undefined;
          });
          await stopAsking();
        };
      };
    },
  },
];

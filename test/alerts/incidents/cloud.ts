import { setTimeout as sleep } from 'node:timers/promises';
import { parseMetrics } from '../../support/prometheus-text.ts';
import { until } from '../../support/until.ts';
import type { Incident } from '../incident.ts';
import type { Release } from '../release.ts';

const account = { account: 'default' };
const secondKey = 'another-key-of-the-same-account';
const plenty = ['--requests-per-minute', '10000'];

/** Every request is answered so; in the end the key is replaced. */
function refusedKey(what: string, status: number): Incident {
  return {
    what,
    alert: 'EdgeOperatorAccountUnauthorized',
    names: account,
    inShort: status === 403,
    cloud: { apiKeys: [`test=${secondKey}`] },
    arrange: async (release) => {
      const operator = await release.start(plenty);
      await release.readyBots(2);
      return async () => {
        release.cloud.fault(`* ** status=${status}`);
        return async () => {
          release.cloud.clearFaults();
          operator.writeKey(secondKey);
        };
      };
    },
  };
}

function used(metrics: string): number {
  const samples = parseMetrics(metrics).flatMap((family) => family.samples);
  return samples.find(({ name }) => name === 'edge_operator_cloud_rate_limit_used_requests')?.value ?? 0;
}

/** Asks for as much as the budget gives without making anything wait. */
async function useUp(release: Release, metrics: string, limit: number, turn: number): Promise<void> {
  const bots = await release.world.list('BotUser', release.namespace);
  for (const bot of bots.slice(0, Math.max(0, limit - 1 - used(metrics))))
    await release.world.annotate(bot, { 'edge-operator.dev/reconcile-at': `turn ${turn}` });
}

export const cloud: readonly Incident[] = [
  refusedKey('the cloud answers 401', 401),
  refusedKey('the key is revoked: the cloud answers 403', 403),
  {
    what: 'the cloud answers 503 to everything',
    alert: 'EdgeOperatorCloudUnreachable',
    names: account,
    inShort: true,
    arrange: async (release) => {
      const operator = await release.start(plenty);
      await release.readyBots(3);
      return async () => {
        release.cloud.fault('* ** status=503');
        return async () => {
          release.cloud.clearFaults();
          await until('a line about the end', () => operator.logs().includes('the cloud answers again'));
          const bots = await release.world.list('BotUser', release.namespace);
          for (const bot of bots) await release.world.reason(bot, 'Available');
        };
      };
    },
  },
  {
    what: 'connections to the cloud are reset',
    alert: 'EdgeOperatorCloudUnreachable',
    names: account,
    arrange: async (release) => {
      await release.start(plenty);
      await release.readyBots(3);
      return async () => {
        release.cloud.fault('* ** reset');
        return async () => release.cloud.clearFaults();
      };
    },
  },
  {
    what: 'a third of the requests fail',
    alert: 'EdgeOperatorCloudErrors',
    arrange: async (release) => {
      await release.start(plenty);
      await release.readyBots(6);
      const stopAsking = release.asking('BotUser', 200);
      return async () => {
        release.cloud.fault('* ** status=503 probability=0.33');
        return async () => {
          release.cloud.clearFaults();
          await stopAsking();
        };
      };
    },
  },
  {
    what: 'the cloud takes 7 s to answer',
    alert: 'EdgeOperatorCloudSlow',
    arrange: async (release) => {
      await release.start(plenty);
      await release.readyBots(6);
      const stopAsking = release.asking('BotUser', 500);
      return async () => {
        release.cloud.fault('* ** latency=7s');
        return async () => {
          release.cloud.clearFaults();
          await stopAsking();
        };
      };
    },
  },
  {
    what: 'the budget is used up, by no more than it holds',
    alert: 'EdgeOperatorBudgetExhausted',
    names: account,
    arrange: async (release) => {
      const limit = 40;
      // One namespace alone may use all of its budget at once.
      const operator = await release.start([
        ...['--requests-per-minute', String(limit)],
        ...['--watch-namespaces', release.namespace, '--resync-interval', '1h'],
      ]);
      await release.readyBots(8);
      return async () => {
        return release.again(400, async (turn) => useUp(release, await operator.metrics(), limit, turn));
      };
    },
  },
  {
    what: 'more is asked for than the budget gives',
    alert: 'EdgeOperatorChangesWait',
    names: account,
    // A restart takes seconds of the operator's own.
    factor: 20,
    arrange: async (release) => {
      const operator = await release.start(['--requests-per-minute', '6']);
      return async () => {
        await release.bots(30);
        return async () => {
          await release.end(operator);
          await release.start(plenty);
        };
      };
    },
  },
  {
    what: 'a 429 asks for a long pause',
    alert: 'EdgeOperatorRateLimitPaused',
    names: account,
    arrange: async (release) => {
      await release.start(plenty);
      await release.readyBots(2);
      return async () => {
        release.cloud.fault('* ** status=429 retry-after=20 count=1');
        // The pause ends by itself.
        return async () => {};
      };
    },
  },
  {
    what: 'something else uses the account: four answers 429',
    alert: 'EdgeOperatorRateLimited',
    names: account,
    arrange: async (release) => {
      await release.start(plenty);
      await release.readyBots(2);
      return async () => {
        for (let time = 0; time < 4; time += 1) {
          release.cloud.fault('* ** status=429 retry-after=1 count=1');
          await sleep(2_500);
        }
        return async () => {};
      };
    },
  },
];

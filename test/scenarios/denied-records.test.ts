import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { conditionOf } from '../../src/operator/reconcile/resource.ts';
import { hasKubectl, kubectl } from '../support/kubectl.ts';
import { until } from '../support/until.ts';
import { startWorld } from '../support/world.ts';

/** As of another operator: this one is kept from its own records. */
const policy = readFileSync(join(import.meta.dirname, '../../deploy/hardening/annotations.yaml'), 'utf8').replace(
  'system:serviceaccount:edge-operator:edge-operator',
  'another',
);

(process.env.TEST_KUBE_APISERVER && hasKubectl ? test : test.skip)(
  'an admission policy that denies the records: nothing is made, the condition says so, and it goes on when it may',
  async () => {
    const world = await startWorld();
    try {
      const namespace = await world.namespace();
      expect(await kubectl(world.kube, ['apply', '-f', '-'], policy)).toMatchObject({ status: 0 });
      let tries = 0;
      const isInForce = () =>
        world
          .apply('BotUser', namespace, `try-${tries++}`, { name: 'try' }, { 'edge-operator.dev/account': 'x' })
          .then(() => false)
          .catch(() => true);
      await until('the policy to be in force', isInForce, 60_000);
      for (const object of await world.list('BotUser', namespace)) await world.delete(object);
      const bot = await world.apply('BotUser', namespace, 'a', { name: 'a' });
      world.startOperator(['--watch-namespaces', namespace]);
      const told = await world.reason(bot, 'DependencyNotReady');
      expect(conditionOf(told, 'Ready')?.message).toMatch(/^no record of it can be kept: .*edge-operator-annotations/);
      expect(world.cloud.requests().filter(({ method }) => method !== 'GET')).toEqual([]);
      expect(await kubectl(world.kube, ['delete', '-f', '-'], policy)).toMatchObject({ status: 0 });
      await world.reason(bot, 'Available', 90_000);
    } finally {
      await world.stop();
    }
  },
  180_000,
);

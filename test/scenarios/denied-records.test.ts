import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { conditionOf } from '../../src/operator/reconcile/resource/resource.ts';
import { hasKubectl, kubectl } from '../support/kubectl.ts';
import { until } from '../support/until.ts';
import { startWorld } from '../support/world.ts';
import { parentsOf, routeModules, seedOf } from './kinds.ts';

/** As of another operator: this one is kept from its own records. */
const policy = readFileSync(join(import.meta.dirname, '../../deploy/hardening/annotations.yaml'), 'utf8').replace(
  'system:serviceaccount:edge-operator:edge-operator',
  'another',
);

const onRealServer = process.env.TEST_KUBE_APISERVER && hasKubectl ? test : test.skip;

onRealServer(
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

/** As of a role without the verb: whoever it is, the finalizer of what is deleted stays. */
const stays = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: finalizers-stay }
spec:
  failurePolicy: Fail
  matchConstraints:
    namespaceSelector: {}
    objectSelector: {}
    resourceRules:
      - { apiGroups: [edge-operator.dev], apiVersions: ["*"], resources: ["*"], operations: [UPDATE] }
  validations:
    - message: no finalizer goes
      expression: "!has(oldObject.metadata.finalizers) || has(object.metadata.finalizers)"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: finalizers-stay }
spec: { policyName: finalizers-stay, validationActions: [Deny] }
`;

onRealServer(
  'a finalizer that may not be taken off: the condition says so, what it had is another’s to ask for, and the next process misses nothing',
  async () => {
    const world = await startWorld();
    try {
      const namespace = await world.namespace();
      const operator = world.startOperator(['--watch-namespaces', namespace]);
      const apply = (name: string) => world.apply('BotUser', namespace, name, { name });
      const [gone, forced, other] = [await apply('gone'), await apply('forced'), await apply('other')];
      world.cloud.seed(seedOf(parentsOf(1)));
      const modules = { ...routeModules.ids(parentsOf(1)), compression: {} };
      const holder = await world.apply(routeModules.kind, namespace, 'holder', modules);
      for (const each of [gone, forced, other, holder]) await world.reason(each, 'Available');
      const heir = await world.apply(routeModules.kind, namespace, 'heir', modules);
      await world.reason(heir, 'Conflict');
      expect(await kubectl(world.kube, ['apply', '-f', '-'], stays)).toMatchObject({ status: 0 });
      const probe = await world.apply('Agent', namespace, 'probe', { url: 'http://127.0.0.1:9' });
      const finalizers = (list: readonly string[]) =>
        kubectl(world.kube, [
          '-n',
          namespace,
          'patch',
          'agents.edge-operator.dev',
          probe.metadata.name,
          '--type=merge',
          '-p',
          JSON.stringify({ metadata: { finalizers: list } }),
        ]);
      const isInForce = async () => {
        await finalizers(['test.test/held']);
        return (await finalizers([])).status !== 0;
      };
      await until('the policy to be in force', isInForce, 60_000);
      await world.annotate(forced, { 'edge-operator.dev/force-orphan': 'true' });
      await world.delete(gone);
      await world.delete(forced);
      const told = await world.reason(gone, 'DependencyNotReady');
      expect(conditionOf(told, 'Ready')?.message).toMatch(
        /^deleting: its finalizer cannot be taken off: .*no finalizer goes/,
      );
      expect(told.status?.ownership?.removedFor).toBe(gone.metadata.uid);
      expect((await world.reason(forced, 'DependencyNotReady')).status?.ownership?.removedFor).toBeUndefined();
      await world.delete(holder);
      await world.reason(heir, 'Available');
      await operator.stop('SIGKILL');
      world.cloud.clearRequests();
      world.startOperator(['--watch-namespaces', namespace]);
      await world.annotate(other, { 'edge-operator.dev/reconcile-at': 'now' });
      await until(
        'the next process to be at work',
        async () => (await world.get(other))?.status?.lastHandledReconcileAt,
      );
      expect(await kubectl(world.kube, ['delete', '-f', '-'], stays)).toMatchObject({ status: 0 });
      await world.gone(gone, 90_000);
      await world.gone(forced, 90_000);
      await world.gone(holder, 90_000);
      expect(world.cloud.requests().filter(({ method }) => method !== 'GET')).toEqual([]);
      expect((await world.events(gone)).map(({ reason }) => reason)).not.toContain('Orphaned');
    } finally {
      await world.stop();
    }
  },
  240_000,
);

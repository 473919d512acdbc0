import { describe, expect, test } from '@jest/globals';
import { conditionOf, type ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import { elapsedMs, quickestMs } from '../support/elapsed.ts';
import { until } from '../support/until.ts';
import { compression, edgePolicy, metadata, routeModules, rules, saml, secret, webhookVerification } from './kinds.ts';
import { useStage } from './stage.ts';

/* What modules take from Secrets and ConfigMaps. */

/** The longest that a change of a Secret or ConfigMap may take to reach the cloud; issue 3. */
const followedWithinMs = 5_000;

const stage = useStage();
const readyOf = (object: ManagedObject) => conditionOf(object, 'Ready');
const apply = (name: string, parts: object) => stage.apply(routeModules, name, parts);
const available = async (name: string, parts: object) => stage.world.reason(await apply(name, parts), 'Available');

test('a Secret that is missing holds up its part only, and heals', async () => {
  const secretRef = { name: 'late', key: 'k' };
  const parts = { webhookVerification: { provider: 'github', secretRef }, compression: {} };
  const object = await apply('a', parts);
  const waiting = await stage.conditionReason(object, webhookVerification, 'DependencyNotReady');
  expect(conditionOf(waiting, webhookVerification.condition)?.message).toContain(
    `Secret ${stage.namespace}/late does not exist`,
  );
  await stage.conditionReason(object, compression, 'Available');
  const heal = async () => {
    await stage.give('Secret', 'late', { other: 'x' });
    await until('the missing key to be named', async () => {
      const found = await stage.world.get(object);
      return found && conditionOf(found, webhookVerification.condition)?.message.includes('has no key "k"');
    });
    return elapsedMs(async () => {
      await stage.give('Secret', 'late', { k: secret('4') });
      await stage.world.reason(object, 'Available');
    });
  };
  expect(await quickestMs(followedWithinMs, heal)).toBeLessThan(followedWithinMs);
  expect((await stage.call('GET', webhookVerification)).body.secret).toBe(secret('4'));
});

test('an empty secret is refused before any PUT', async () => {
  await stage.give('Secret', 'empty', { k: '' });
  const parts = { webhookVerification: { provider: 'github', secretRef: { name: 'empty', key: 'k' } } };
  const object = await stage.world.reason(await apply('a', parts), 'Rejected');
  expect(readyOf(object)?.message).toContain('secretRef');
  expect(stage.mutations()).toEqual([]);
  await stage.give('Secret', 'empty', { k: secret('5') });
  await stage.world.reason(object, 'Available');
});

test('a Secret that changes reaches the cloud in time, by one PUT', async () => {
  await stage.give('Secret', 'own', { k: secret('6') });
  const secretRef = { name: 'own', key: 'k' };
  const object = await available('a', { webhookVerification: { provider: 'github', secretRef } });
  const change = async (index: number) => {
    stage.world.cloud.clearRequests();
    const k = secret(`${7 + index}`);
    const tookMs = await elapsedMs(async () => {
      await stage.give('Secret', 'own', { k });
      await until('the new secret in the cloud', () => stage.mutations().length > 0);
    });
    const body = { enabled: true, provider: 'github', secret: k };
    expect(stage.mutations()).toEqual([{ method: 'PUT', path: webhookVerification.path(stage.parents), body }]);
    await stage.world.reason(object, 'Available');
    return tookMs;
  };
  expect(await quickestMs(followedWithinMs, change)).toBeLessThan(followedWithinMs);
  // Somebody asked for it: nothing drifted.
  await stage.world.eventsOf(object, 'Updated');
  expect((await stage.world.events(object)).map(({ reason }) => reason)).not.toContain('DriftCorrected');
});

test.each(['ConfigMap', 'Secret'] as const)('SAML metadata follows its %s', async (source) => {
  await stage.give(source, 'meta', { xml: metadata('5') });
  const ref = { [source === 'Secret' ? 'secretKeyRef' : 'configMapKeyRef']: { name: 'meta', key: 'xml' } };
  await available('a', { saml: { idpMetadataFrom: ref } });
  const change = (index: number) =>
    elapsedMs(async () => {
      const xml = metadata(`${6 + index}`);
      await stage.give(source, 'meta', { xml });
      await until(
        'the new metadata in the cloud',
        async () => (await stage.call('GET', saml)).body.idp_metadata === xml,
      );
    });
  expect(await quickestMs(followedWithinMs, change)).toBeLessThan(followedWithinMs);
});

test('SAML metadata that moves to a ConfigMap as it is sends nothing', async () => {
  const { idpMetadata, ...rest } = saml.spec;
  await stage.give('ConfigMap', 'meta', { xml: String(idpMetadata) });
  const object = await available('a', { saml: saml.spec });
  stage.world.cloud.clearRequests();
  await available('a', { saml: { ...rest, idpMetadataFrom: { configMapKeyRef: { name: 'meta', key: 'xml' } } } });
  await available('a', { saml: saml.spec });
  await stage.rounds([saml], 2);
  expect(stage.mutations()).toEqual([]);
  expect((await stage.world.events(object)).map(({ reason }) => reason)).toEqual(['Created']);
});

describe('traffic policy from a ConfigMap', () => {
  const policyFrom = { configMapKeyRef: { name: 'policy', key: 'p' } };
  const apply = () => stage.apply(edgePolicy, 'a', { policyFrom });
  const sentValues = () => stage.mutations().map(({ body }) => (body as { value: string }).value);
  const yaml = 'inbound:\n  - name: y\n    expressions: []\n    actions:\n      - type: deny\n';

  test('a missing ConfigMap heals; YAML is sent as compact JSON; a change reaches the cloud in time', async () => {
    const object = await stage.world.reason(await apply(), 'DependencyNotReady');
    expect(readyOf(object)?.message).toContain(`ConfigMap ${stage.namespace}/policy does not exist`);
    const change = async () => {
      stage.world.cloud.clearRequests();
      await stage.give('ConfigMap', 'policy', { p: yaml });
      await until('the policy in the cloud', () => stage.mutations().length === 1);
      expect((await stage.world.reason(object, 'Available')).status?.ruleCount).toBe(1);
      const tookMs = await elapsedMs(async () => {
        await stage.give('ConfigMap', 'policy', { p: JSON.stringify(rules('log', 'deny'), null, 2) });
        await until('the new policy in the cloud', () => stage.mutations().length === 2);
      });
      expect(sentValues()).toEqual([
        '{"inbound":[{"name":"y","expressions":[],"actions":[{"type":"deny"}]}]}',
        JSON.stringify(rules('log', 'deny')),
      ]);
      return tookMs;
    };
    expect(await quickestMs(followedWithinMs, change)).toBeLessThan(followedWithinMs);
  });

  test('the longest policies, in the resource or a ConfigMap of 1 MiB, are sent whole, changed and checked', async () => {
    const long = (mark: string) => ({
      inbound: [{ name: mark + 'x'.repeat(65_000), expressions: [], actions: [{ type: 'deny' }] }],
    });
    const sent = async (mark: string) => {
      await until(`the policy ${mark}`, () => sentValues().at(-1) === JSON.stringify(long(mark)));
      stage.world.cloud.clearRequests();
    };
    const object = await stage.apply(edgePolicy, 'a', { policy: long('a') });
    await sent('a');
    await stage.apply(edgePolicy, 'a', { policy: long('b') });
    await sent('b');
    await stage.world.reason(object, 'Available');
    await stage.give('ConfigMap', 'policy', { p: JSON.stringify(long('c')), other: 'x'.repeat(900_000) });
    await apply();
    await sent('c');
    await stage.give('ConfigMap', 'policy', { p: JSON.stringify(long('d')), other: 'x'.repeat(900_000) });
    await sent('d');
    await stage.rounds(edgePolicy.externals, 2);
    expect(stage.mutations()).toEqual([]);
    await stage.apply(edgePolicy, 'a', { policy: { ...long('e'), more: 'x'.repeat(1_000) } });
    const refused = await stage.world.reason(object, 'Rejected');
    expect(readyOf(refused)?.message).toMatch(/^spec\.policy: is \d+ bytes long; at most 65536 are taken$/);
  });

  test('the same policy written otherwise is not sent again', async () => {
    await stage.give('ConfigMap', 'policy', { p: yaml });
    const object = await stage.world.reason(await apply(), 'Available');
    await stage.give('ConfigMap', 'policy', {
      p: '{"inbound": [{"actions": [{"type": "deny"}], "expressions": [], "name": "y"}]}',
    });
    await stage.rounds(edgePolicy.externals, 2);
    expect(stage.mutations()).toHaveLength(1);
    expect(readyOf(object)?.reason).toBe('Available');
  });

  test('a malformed policy names its path, sends nothing and heals', async () => {
    const malformed = JSON.stringify({
      inbound: [...rules('a', 'b').inbound, { name: 'c', expressions: [], actions: [{}] }],
    });
    await stage.give('ConfigMap', 'policy', { p: malformed });
    const object = await stage.world.reason(await apply(), 'Rejected');
    expect(readyOf(object)?.message).toContain('inbound[2].actions[0].type');
    expect(conditionOf(object, 'Stalled')?.status).toBe('True');
    expect(stage.mutations()).toEqual([]);
    await stage.give('ConfigMap', 'policy', { p: yaml });
    await stage.world.reason(object, 'Available');
  });
});

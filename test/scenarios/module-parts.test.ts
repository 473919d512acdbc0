import { beforeEach, describe, expect, test } from '@jest/globals';
import { definition } from '../../src/operator/kinds/cloud/https-route-modules/schema.ts';
import { annotation } from '../../src/operator/reconcile/resource/annotations.ts';
import { conditionOf, type ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import { until } from '../support/until.ts';
import { nextSecond } from '../support/world.ts';
import { compression, ipRestriction, metadata, routeModules, saml, webhookVerification } from './kinds.ts';
import { useStage } from './stage.ts';

/* What the parts of one parent have to do with each other. */

const stage = useStage();
const readyOf = (object: ManagedObject) => conditionOf(object, 'Ready');
const apply = (name: string, parts: object) => stage.apply(routeModules, name, parts);
const available = async (name: string, parts: object) => stage.world.reason(await apply(name, parts), 'Available');

test('a part that leaves the spec is one DELETE; the others and their conditions stay', async () => {
  const object = await available('a', { saml: saml.spec, compression: {} });
  stage.world.cloud.clearRequests();
  const changed = await available('a', { saml: saml.spec });
  expect(stage.mutations()).toEqual(stage.deletes([compression]));
  expect(conditionOf(changed, 'CompressionReady')).toBeUndefined();
  expect(changed.status).not.toHaveProperty('compression');
  expect(conditionOf(changed, 'SamlReady')?.status).toBe('True');
  expect(await stage.notesOf(object, 'Deleted')).toHaveLength(1);
  await available('a', {});
  expect(stage.mutations()).toEqual(stage.deletes([compression, saml]));
});

test('a field that leaves the spec is taken back by one PUT of what is left, and then nothing is sent', async () => {
  const { authorizedGroups, ...fewer } = saml.spec;
  const object = await available('a', { saml: { ...fewer, authorizedGroups }, compression: {} });
  stage.world.cloud.clearRequests();
  await available('a', { saml: fewer, compression: {} });
  expect((await stage.call('GET', saml)).body.authorized_groups).toEqual([]);
  const notes = await stage.notesOf(object, 'Updated');
  expect(notes).toEqual([expect.stringMatching(/^updated authorizedGroups of SAML module/)]);
  await stage.rounds([saml], 2);
  expect(stage.mutations()).toEqual([expect.objectContaining({ method: 'PUT', path: saml.path(stage.parents) })]);
});

test('a list that is emptied beside `enabled` detaches all, as docs/gitops.md says', async () => {
  await available('a', { ipRestriction: { enabled: true, ...ipRestriction.spec } });
  stage.world.cloud.clearRequests();
  await available('a', { ipRestriction: { enabled: true, ipPolicyIDs: [] } });
  expect((await stage.call('GET', ipRestriction)).body).toEqual({ enabled: true, ip_policies: [] });
  expect(stage.mutations()).toEqual([expect.objectContaining({ method: 'PUT', body: { enabled: true } })]);
});

test('a part whose removal fails says so and is removed later', async () => {
  await available('a', { saml: saml.spec, compression: {} });
  stage.world.cloud.fault(`DELETE ${compression.path(stage.parents)} status=500`);
  const failing = await stage.conditionReason(await apply('a', { saml: saml.spec }), compression, 'Unreachable');
  expect(readyOf(failing)).toMatchObject({ status: 'False', message: expect.stringMatching(/^compression: /) });
  stage.world.cloud.clearFaults();
  await stage.world.reason(failing, 'Available');
  expect((await stage.call('GET', compression)).status).toBe(404);
});

test('a part that is back in the spec after a removal without an answer is applied, which is no drift', async () => {
  const parts = { saml: saml.spec, compression: {} };
  await available('a', parts);
  stage.world.cloud.fault(`DELETE ${compression.path(stage.parents)} drop`);
  await stage.conditionReason(await apply('a', { saml: saml.spec }), compression, 'Unreachable');
  stage.world.cloud.clearFaults();
  const object = await available('a', parts);
  expect((await stage.call('GET', compression)).status).toBe(200);
  const reasons = (await stage.world.events(object)).map(({ reason }) => reason);
  expect(reasons).not.toContain('DriftCorrected');
});

test('a part that leaves the spec is removed even when the status was lost', async () => {
  const object = await available('a', { compression: {}, ipRestriction: ipRestriction.spec });
  await stage.world.annotate(object, { [annotation.paused]: 'true' });
  await stage.world.reason(object, 'Paused');
  const patch = { type: 'merge', body: { status: { compression: null, conditions: null } } } as const;
  await stage.world.client.patch(definition.type, object.metadata, patch, { subresource: 'status' });
  stage.world.cloud.clearRequests();
  await apply('a', { ipRestriction: ipRestriction.spec });
  await stage.world.annotate(object, { [annotation.paused]: null });
  await stage.world.reason(object, 'Available');
  expect(stage.mutations()).toEqual(stage.deletes([compression]));
});

test('what is put where a part was removed already stays, while another part cannot be removed yet', async () => {
  const object = await available('a', { saml: saml.spec, compression: {} });
  stage.world.cloud.clearRequests();
  stage.world.cloud.fault(`DELETE ${saml.path(stage.parents)} status=500`);
  await stage.world.delete(object);
  const tries = () => stage.mutations().filter(({ path }) => path === saml.path(stage.parents)).length;
  await until('a removal that failed', () => tries() >= 1);
  await until('the other to be removed', async () => (await stage.call('GET', compression)).status === 404);
  await stage.call('PUT', compression, { enabled: false });
  const before = tries();
  await until('another try', () => tries() > before);
  stage.world.cloud.clearFaults();
  await stage.world.gone(object);
  expect((await stage.call('GET', compression)).body).toEqual({ enabled: false });
});

test('a part that leaves the spec by a replacement, which wipes all records, is removed', async () => {
  const object = await available('a', { ipRestriction: ipRestriction.spec, compression: {} });
  await stage.world.replace(object, { ...routeModules.ids(stage.parents), ipRestriction: ipRestriction.spec });
  await until('the part to go', async () => (await stage.call('GET', compression)).status === 404);
  await stage.world.delete(await stage.world.reason(object, 'Available'));
  await stage.world.gone(object);
  expect((await stage.call('GET', ipRestriction)).status).toBe(404);
});

test('parts that were never named are never touched, nor looked at', async () => {
  const others = [saml, webhookVerification, compression];
  for (const part of others) await stage.call('PUT', part, part.sent);
  const object = await available('a', { ipRestriction: ipRestriction.spec });
  await stage.rounds([ipRestriction], 1);
  await stage.world.delete(object);
  await stage.world.gone(object);
  expect(new Set(stage.calls().map(({ path }) => path))).toEqual(new Set([ipRestriction.path(stage.parents)]));
  for (const part of others) expect((await stage.call('GET', part)).status).toBe(200);
});

test('two resources with different parts share the route', async () => {
  const first = await available('a', { compression: {} });
  const second = await available('b', { ipRestriction: ipRestriction.spec });
  expect(stage.mutations()).toEqual(stage.puts([compression, ipRestriction]));
  stage.world.cloud.clearRequests();
  await stage.world.delete(first);
  await stage.world.gone(first);
  expect(stage.mutations()).toEqual(stage.deletes([compression]));
  await stage.world.reason(second, 'Available');
});

test('of two resources on one part the older has it; the rest of the younger works', async () => {
  const first = await available('a', { compression: {} });
  await nextSecond(first);
  const second = await apply('b', { compression: { enabled: false }, ipRestriction: ipRestriction.spec });
  const loser = await stage.world.reason(second, 'Conflict');
  expect(conditionOf(loser, 'CompressionReady')).toMatchObject({
    reason: 'Conflict',
    message: expect.stringContaining(`${stage.namespace}/a`),
  });
  expect(conditionOf(loser, 'IpRestrictionReady')?.reason).toBe('Available');
  await available('a', {});
  await stage.world.reason(second, 'Available');
  expect((await stage.call('GET', compression)).body).toEqual({ enabled: false });
});

test('a part of a resource that is deleted is free, though somebody else still holds the resource', async () => {
  const object = await available('a', { compression: {} });
  const hold = (finalizers: readonly string[]) =>
    stage.world.client.patch(definition.type, object.metadata, { type: 'merge', body: { metadata: { finalizers } } });
  await hold([...(object.metadata.finalizers ?? []), 'example.com/hold']);
  await stage.world.delete(object);
  const other = await apply('b', { compression: {} });
  await stage.world.reason(other, 'Available');
  expect((await stage.world.get(object))?.metadata.finalizers).toEqual(['example.com/hold']);
  await hold([]);
  await stage.world.gone(object);
  expect((await stage.call('GET', compression)).status).toBe(200);
});

test('one part that fails does not hold up the others', async () => {
  stage.world.cloud.fault(`PUT ${saml.path(stage.parents)} status=500`);
  const object = await apply('a', { saml: saml.spec, compression: {}, ipRestriction: ipRestriction.spec });
  const failing = await stage.conditionReason(object, saml, 'Unreachable');
  expect(conditionOf(failing, 'CompressionReady')?.reason).toBe('Available');
  expect(conditionOf(failing, 'IpRestrictionReady')?.reason).toBe('Available');
  expect(readyOf(failing)).toMatchObject({ status: 'False', message: expect.stringMatching(/^saml: /) });
  stage.world.cloud.clearFaults();
  await stage.world.reason(object, 'Available');
  const others = [compression.path(stage.parents), ipRestriction.path(stage.parents)];
  expect(stage.mutations().filter(({ path }) => others.includes(path))).toEqual(
    stage.puts([compression, ipRestriction]),
  );
});

test('what the cloud refuses is Rejected, and not sent again and again', async () => {
  const object = await apply('a', { ipRestriction: { ipPolicyIDs: ['ipp_nothing'] }, compression: {} });
  const refused = await stage.world.reason(object, 'Rejected');
  expect(readyOf(refused)?.message).toMatch(/^ipRestriction: .*ERR_EDGE_309/);
  const before = stage.looksAt(ipRestriction);
  await until('the resource to be woken and looked at, twice', async () => {
    await stage.world.annotate(object, { nudge: String(Date.now()) });
    return stage.looksAt(ipRestriction) >= before + 2;
  });
  expect(stage.mutations().filter(({ path }) => path === ipRestriction.path(stage.parents))).toHaveLength(1);
  await available('a', { ipRestriction: ipRestriction.spec, compression: {} });
});

test('what somebody else put there stays, where the cloud refused to replace it', async () => {
  const module = { enabled: false, ip_policy_ids: ['ipp_1'] };
  await stage.call('PUT', ipRestriction, module);
  const object = await apply('a', { ipRestriction: { ipPolicyIDs: ['ipp_nothing'] } });
  await stage.world.reason(object, 'Rejected');
  await stage.world.delete(object);
  await stage.world.gone(object);
  expect((await stage.call('GET', ipRestriction)).body).toMatchObject({
    enabled: false,
    ip_policies: [{ id: 'ipp_1' }],
  });
});

test('a route that does not exist yet', async () => {
  const nowhere = { edgeID: stage.parents.edge, routeID: 'edghtsrt_nowhere', compression: {} };
  const object = await stage.world.reason(
    await stage.world.apply(routeModules.kind, stage.namespace, 'a', nowhere),
    'DependencyNotReady',
  );
  expect(readyOf(object)?.message).toContain('route edghtsrt_nowhere');
  await stage.world.delete(object);
  await stage.world.gone(object);
});

test('the notification service needs no secret', async () => {
  await available('a', { webhookVerification: { provider: 'SNS' } });
  expect(stage.mutations()).toEqual([
    { method: 'PUT', path: webhookVerification.path(stage.parents), body: { enabled: true, provider: 'SNS' } },
  ]);
});

test('what the user left out is not compared', async () => {
  await available('a', { saml: { idpMetadata: metadata('7') } });
  expect(stage.mutations()).toEqual([
    { method: 'PUT', path: saml.path(stage.parents), body: { enabled: true, idp_metadata: metadata('7') } },
  ]);
  await stage.call('PUT', saml, { idp_metadata: metadata('7'), cookie_prefix: 'foreign.', authorized_groups: ['x'] });
  stage.world.cloud.clearRequests();
  await stage.rounds([saml], 2);
  expect(stage.mutations()).toEqual([]);
});

test('one answer that a module is not there resets nothing of it that the spec leaves out', async () => {
  await available('a', { saml: { idpMetadata: metadata('7') } });
  await stage.call('PUT', saml, { idp_metadata: metadata('7'), authorized_groups: ['x'] });
  stage.world.cloud.clearRequests();
  stage.world.cloud.fault(`GET ${saml.path(stage.parents)} status=404 count=1`);
  await stage.rounds([saml], 3);
  expect(stage.mutations()).toEqual([]);
});

describe('TLS termination of an edge that passes TLS through', () => {
  const upstream = () => `edghts_up${stage.number}`;
  const apply = (tlsTermination: object) =>
    stage.world.apply('HttpsEdgeModules', stage.namespace, 'a', { edgeID: upstream(), tlsTermination });
  const putsOf = () =>
    stage.world.cloud.requests().filter(({ method, path }) => method === 'PUT' && path.includes(`/${upstream()}/`));
  beforeEach(() => stage.world.cloud.seed({ https_edges: [{ id: upstream(), terminate_at: 'upstream' }] }));

  test('minVersion is refused before any PUT, and the status says why', async () => {
    const object = await stage.world.reason(await apply({ minVersion: '1.3' }), 'Rejected');
    expect(conditionOf(object, 'TlsTerminationReady')?.message).toMatch(/terminateAt is upstream.*remove minVersion/);
    expect(object.status?.tlsTermination).toEqual({ applied: false, terminateAt: 'upstream' });
    expect(conditionOf(object, 'Stalled')?.status).toBe('True');
    await stage.world.reason(await apply({}), 'Available');
    expect(putsOf()).toEqual([]);
  });

  test('the rest of the module works', async () => {
    const object = await stage.world.reason(await apply({ enabled: false }), 'Available');
    expect(putsOf().map(({ body }) => body)).toEqual([{ enabled: false }]);
    expect(object.status?.tlsTermination).toEqual({ applied: true, terminateAt: 'upstream' });
  });
});

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { definition } from '../../../src/operator/kinds/cloud/https-route-modules/schema.ts';
import type { KubeObject, ResourceType } from '../../../src/operator/kube/types.ts';
import { conditionOf } from '../../../src/operator/reconcile/resource/resource.ts';
import { inSetting } from '../../support/setting.ts';
import { until } from '../../support/until.ts';
import { startWorld, type World } from '../../support/world.ts';
import { ipPolicies, ipRestriction, parentsOf, routeModules, saml, seedOf } from '../kinds.ts';
import { mutations } from './account-setting.ts';

/* The definitions of an older release, for a while, under the operator of this one. */

const definitionType: ResourceType = {
  ...{ group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' },
  ...{ kind: 'CustomResourceDefinition', namespaced: false },
};

interface Definition extends KubeObject {
  readonly spec: { readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[] };
}

interface Schema {
  properties?: Record<string, Schema>;
}

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const at = { name: `${definition.type.plural}.${definition.type.group}` };

/** @returns how the definitions were */
async function takeOutOfSpec(part: string, field: string): Promise<Definition['spec']['versions']> {
  const { versions } = (await world.client.get<Definition>(definitionType, at))?.spec ?? { versions: [] };
  const older = structuredClone(versions);
  for (const { schema } of older) {
    const { properties } = schema.openAPIV3Schema.properties?.spec ?? {};
    delete properties?.[part];
    delete properties?.[field.split('.')[0] ?? '']?.properties?.[field.split('.')[1] ?? ''];
  }
  await serve(older);
  return versions;
}

async function serve(versions: Definition['spec']['versions']): Promise<void> {
  await world.client.patch(definitionType, at, { type: 'merge', body: { spec: { versions } } });
}

test('take a part and a field out of specs: both stay in the cloud, over a restart while the account is away', async () => {
  const parents = parentsOf(1);
  const specWith = (parts: object) => ({ ...routeModules.ids(parents), ...parts });
  const apply = (namespace: string, parts: object) => world.apply(routeModules.kind, namespace, 'a', specWith(parts));
  await inSetting(world, async ({ namespace, cloud, start }) => {
    cloud.seed({ ...seedOf(parents), ip_policies: ipPolicies });
    const first = start('--resync-interval', '1s');
    const { cookiePrefix: _, ...fewer } = saml.spec;
    const all = { ipRestriction: ipRestriction.spec, saml: fewer, compression: {} };
    await world.reason(await apply(namespace, { compression: {} }), 'Available');
    const object = await world.reason(await apply(namespace, all), 'Available');
    cloud.fault('* /** status=503');
    await world.reason(object, 'Unreachable');
    await first.stop('SIGKILL');
    cloud.clearRequests();
    const current = await takeOutOfSpec('ipRestriction', 'saml.forceAuthn');
    await until('the part to be taken out', async () => !('ipRestriction' in ((await world.get(object))?.spec ?? {})));

    const second = start('--resync-interval', '1s');
    await until('a look', () => cloud.requests().length > 0);
    cloud.clearFaults();
    const left = await world.reason(object, 'DependencyNotReady');
    expect(conditionOf(left, 'Ready')?.message).toContain('does not know spec.ipRestriction');
    expect(mutations(cloud)).toEqual([]);
    // What is served to watches that were begun before goes on by the older definitions for a while.
    await second.stop('SIGKILL');
    await serve(current);
    const elsewhere = await world.namespace();
    await until('the definitions', async () => 'ipRestriction' in (await apply(elsewhere, all)).spec);
    start('--resync-interval', '1s');
    await world.reason(await apply(namespace, all), 'Available');
    // By an edit that no operator saw, a field may have left any part that leaves something out: it is put in place once more.
    const { cookie_prefix: __, ...body } = saml.sent;
    expect(mutations(cloud)).toMatchObject([{ method: 'PUT', path: saml.path(parents), body }]);

    cloud.clearRequests();
    await world.reason(await apply(namespace, { saml: fewer, compression: {} }), 'Available');
    expect(mutations(cloud)).toMatchObject([{ method: 'DELETE', path: ipRestriction.path(parents) }]);
  });
});

test('and operators, which wrote no generations of parts, leave statuses that are believed: nothing is sent again', async () => {
  const parents = parentsOf(2);
  const apply = (namespace: string, parts: object) =>
    world.apply(routeModules.kind, namespace, 'a', { ...routeModules.ids(parents), ...parts });
  await inSetting(world, async ({ namespace, cloud, start }) => {
    cloud.seed(seedOf(parents));
    const first = start('--resync-interval', '1s');
    await world.reason(await apply(namespace, { compression: {} }), 'Available');
    const object = await world.reason(await apply(namespace, { compression: {}, saml: saml.spec }), 'Available');
    await first.stop('SIGKILL');
    const body = { status: { ownership: { generations: null } } };
    await world.client.patch(definition.type, object.metadata, { type: 'merge', body }, { subresource: 'status' });
    cloud.clearRequests();
    start('--resync-interval', '1s');
    const inPlace = { asked: 2, inPlace: 2 };
    const generations = async () => (await world.get(object))?.status?.ownership?.generations;
    await until('the record', async () => (await generations()) !== undefined);
    expect(await generations()).toEqual({ compression: inPlace, saml: inPlace });
    expect(mutations(cloud)).toEqual([]);
  });
});

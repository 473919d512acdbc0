import type { Chance } from '../../core/random.ts';
import type { Act } from '../../core/story.ts';
import { surroundings } from '../../core/surroundings.ts';
import { byHand, idOf } from '../acts.ts';
import { keyOf } from '../cloud-keys.ts';
import { pathOfModules } from '../paths.ts';
import { type CastResource, isExternal, isOfCloud, type Scene } from '../scene.ts';
import { someTime } from '../times.ts';
import type { Habit } from './habit.ts';

/** By kind: a module that its resources may have, and what somebody puts there. */
const modules: Readonly<Record<string, readonly (readonly [string, object])[]>> = {
  HttpsRouteModules: [
    ['compression', { enabled: false }],
    ['ip_restriction', { ip_policy_ids: surroundings.ipPolicies.slice(0, 1) }],
    ['webhook_verification', { provider: 'by hand', secret: 'CANARY-1' }],
    ['saml', { idp_metadata: '<EntityDescriptor entityID="CANARY-2"/>' }],
  ],
  HttpsEdgeModules: [
    ['mutual_tls', { certificate_authority_ids: surroundings.certificateAuthorities.slice(0, 1) }],
    ['tls_termination', { min_version: '1.0' }],
  ],
  TlsEdgeTrafficPolicy: [['traffic_policy', { value: '{"inbound":[]}' }]],
};

function changed(resource: CastResource, at: number, chance: Chance): Act {
  const key = keyOf(resource.holds);
  if (resource.kind === 'ReservedAddr') {
    const body = chance.pick([
      { description: 'changed by hand' },
      { metadata: 'changed by hand' },
      { description: '' },
    ]);
    return byHand(at, { key, method: 'PATCH', path: `/reserved_addrs/${idOf(resource)}`, body });
  }
  if (resource.kind === 'BotUser') {
    const body = chance.pick([{ name: 'changed by hand' }, { active: false }, { active: true }]);
    return byHand(at, { key, method: 'PATCH', path: `/bot_users/${idOf(resource)}`, body });
  }
  const [module, body] = chance.pick(modules[resource.kind] ?? []);
  const path = `${pathOfModules(resource)}/${module}`;
  return chance.chance(0.5)
    ? byHand(at, { key, method: 'PUT', path, body })
    : byHand(at, { key, method: 'DELETE', path });
}

const deleted = (resource: CastResource, at: number): Act => {
  const path = resource.kind === 'BotUser' ? '/bot_users' : '/reserved_addrs';
  return byHand(at, { key: keyOf(resource.holds), method: 'DELETE', path: `${path}/${idOf(resource)}` });
};

const lasts = (chance: Chance, scene: Scene, { bornAt }: CastResource) =>
  Math.max(bornAt + 1_000, someTime(chance, scene, bornAt));

export const externalDrift: Habit = {
  about: 'somebody changes objects and modules in the cloud by hand, and deletes one',
  plan: (chance, scene) => {
    const some = chance.shuffled(scene.resources.filter(isOfCloud)).slice(0, chance.int(1, 4));
    // One only: when many vanish at once nothing is to be concluded from it.
    const [victim] = chance.chance(0.5) ? chance.shuffled(scene.resources.filter(isExternal)) : [];
    return [
      ...some.map((resource) => changed(resource, lasts(chance, scene, resource), chance)),
      ...(victim === undefined ? [] : [deleted(victim, lasts(chance, scene, victim))]),
    ];
  },
};

import type { Chance } from '../../core/random.ts';
import type { Act } from '../../core/story.ts';
import { annotate, byHand, foreignID, idOf, note, remove, uidOf } from '../acts.ts';
import { keyOf } from '../cloud-keys.ts';
import { ownText, parentIn } from '../content.ts';
import { edgeOf } from '../edges.ts';
import { routePath } from '../paths.ts';
import { type CastAccount, type CastResource, isExternal, isModules, isOfCloud, type Scene } from '../scene.ts';
import type { JsonMap } from '../specs/schemas.ts';
import { after, someTime } from '../times.ts';
import type { Habit } from './habit.ts';

/** Of the tenant who wants what others have, or their key. */
const namespace = 'forger';
/** What somebody made by hand in the account of another tenant, or in his own, where no resource claims it. */
const unclaimed = 'unclaimed';
const edge = edgeOf.annotationsForged;

type Notes = Readonly<Record<string, string>>;

/** As if the forger's resource had made what the victim has. */
function notesOn(victim: CastResource, chance: Chance): Notes {
  const theirs = victim.account === undefined ? 'default' : `${victim.namespace}/${victim.account}`;
  const account = { [note.account]: chance.pick([theirs, theirs, `CloudAccount/${victim.account ?? 'own'}`]) };
  const intent = { at: '2030-01-01T00:00:00.000Z', ...(chance.chance(0.5) && { content: 'forged' }) };
  if (isModules(victim)) return { ...account, [note.appliedParts]: partsIn(victim).join(',') };
  if (chance.chance(0.3)) return { ...account, [note.createIntent]: JSON.stringify(intent) };
  return { ...account, [note.externalID]: idOf(victim), [note.createdID]: idOf(victim) };
}

const partsIn = ({ kind, spec }: CastResource): readonly string[] =>
  kind === 'TlsEdgeTrafficPolicy' ? ['policy'] : Object.keys(spec).filter((field) => field in parts);
const parts = { saml: 1, ipRestriction: 1, webhookVerification: 1, compression: 1, mutualTLS: 1, tlsTermination: 1 };

/** Forged from the start, while it is paused, or, where it is late, when the resource is one like any other by then. */
function forged(victim: CastResource, isLate: boolean, scene: Scene, chance: Chance): CastResource {
  const role = { kind: victim.kind, namespace, name: `${isLate ? 'late' : 'forged'}-${victim.name}` };
  const bornAt = Math.max(victim.bornAt + 2_000, someTime(chance, scene, victim.bornAt));
  const spec = specLike(victim, role, isLate);
  return {
    ...role,
    holds: 'main',
    spec,
    bornAt,
    ...(!isLate && { annotations: { ...notesOn(victim, chance), [note.paused]: 'true' } }),
  };
}

/** Of modules nothing, so that what is on record is to be removed, unless something has to be made first. */
function specLike(
  victim: CastResource,
  role: Pick<CastResource, 'kind' | 'namespace' | 'name'>,
  isLate: boolean,
): JsonMap {
  if (victim.kind === 'BotUser') return { name: ownText(role) };
  if (victim.kind === 'ReservedAddr') return { description: ownText(role) };
  const { accountRef: _, ...theirs } = victim.spec;
  if (isLate || victim.kind === 'TlsEdgeTrafficPolicy') return theirs;
  return Object.fromEntries(Object.entries(theirs).filter(([field]) => !(field in parts)));
}

/** Both late: without a finalizer nothing is done for a resource that goes. */
function claiming(scene: Scene, chance: Chance): readonly CastResource[] {
  const bornAt = someTime(chance, scene, 5_000);
  const addr = { kind: 'ReservedAddr', namespace, name: `${unclaimed}-addr`, holds: 'main', bornAt } as const;
  const route = { kind: 'HttpsRouteModules', namespace, name: `${unclaimed}-route`, holds: 'main', bornAt } as const;
  const modules = { ...parentIn(route.kind, edge), compression: { enabled: true } };
  return [
    { ...addr, spec: { description: ownText(addr) } },
    { ...route, spec: modules },
  ];
}

/**
 * What there is to be had, and how it is claimed.
 *
 * @param victim undefined: it is in his own account, where naming it would be an import, which is no theft
 */
function claimed(resource: CastResource, victim: CastAccount | undefined, at: number): readonly Act[] {
  const key = keyOf((victim ?? resource).holds);
  const own = { [note.recordOf]: uidOf(resource) };
  const account = victim === undefined ? own : { ...own, [note.account]: `${victim.namespace}/${victim.name}` };
  if (resource.kind === 'HttpsRouteModules') {
    const path = `${routePath(edge)}/compression`;
    return [byHand(resource.bornAt - 1_000, { key, method: 'PUT', path, body: {} }), annotate(at, resource, account)];
  }
  const made = { path: '/reserved_addrs', body: { description: `foreign ${unclaimed}` }, name: unclaimed };
  const id = foreignID(unclaimed);
  const named = victim === undefined ? {} : { [note.externalID]: id };
  return [
    byHand(resource.bornAt - 1_000, { key, method: 'POST', ...made }),
    annotate(at, resource, { ...account, ...named, [note.createdID]: id }),
  ];
}

export const annotationsForged: Habit = {
  about: 'a tenant of another namespace forges account, ids, records and intents to get at what others made',
  cast: (chance, scene) => {
    const victims = chance.shuffled(scene.resources.filter(isOfCloud)).slice(0, chance.int(1, 3));
    const own = victims.map((victim) => forged(victim, isExternal(victim) && chance.chance(0.5), scene, chance));
    return { ...scene, resources: [...scene.resources, ...own, ...claiming(scene, chance)] };
  },
  plan: (chance, scene) =>
    scene.resources
      .filter((each) => each.namespace === namespace)
      .flatMap((each) => {
        const at = after(chance, scene, each.bornAt + 2_000, 100, 60_000);
        const gone = chance.chance(0.8) ? [remove(after(chance, scene, at, 100, 60_000), each)] : [];
        const victim = scene.resources.find(({ name }) => each.name === `late-${name}`);
        const own = { [note.recordOf]: uidOf(each) };
        if (victim !== undefined) return [annotate(at, each, { ...notesOn(victim, chance), ...own }), ...gone];
        if (!each.name.startsWith(unclaimed)) return [annotate(at, each, { ...own, [note.paused]: null }), ...gone];
        const isHisOwn = isExternal(each) && chance.of(each.name).chance(0.5);
        return [...claimed(each, isHisOwn ? undefined : scene.accounts[0], at), ...gone];
      }),
};

import { z } from 'zod';
import { parseRoute } from '../../../../src/reference/kube-api/route.ts';
import { textAs } from '../../../../src/reference/kube-api/types/resource-type.ts';
import type { Effect, Flight } from '../../core/network.ts';
import type { Trouble } from '../../core/run.ts';
import type { World } from '../../core/world.ts';
import type { TroubleKind } from '../kind.ts';
import { ms, options, probability } from '../options.ts';
import { lasting } from '../plan.ts';
import { chancesOf } from '../requests.ts';
import { Revisions } from './revisions.ts';

const name = 'stale-lists';

const schema = options({
  probability: probability.default(1),
  ageMs: ms.default(30_000),
  /** Lists that are streamed without any version, too: a server must not do that, for they ask for what is newest. */
  unversioned: z.boolean().default(false),
});

const begin: Trouble = (world, given) => {
  const { probability, ageMs, unversioned } = schema.parse(given);
  const chances = chancesOf(world, name, given);
  const revisions = new Revisions(world);
  const rule = (flight: Flight) => {
    const url = new URL(flight.path, flight.to.origin);
    if (flight.to.name !== 'kube' || !takesOld(flight, url, unversioned)) return undefined;
    if (!chances.of(flight).chance(probability)) return undefined;
    const revision = revisions.at(world.scheduler.now - ageMs);
    const { store } = world.kube;
    const asked = Number(url.searchParams.get('resourceVersion') ?? 0);
    if (revision >= store.revision || revision < store.compactedRevision || revision < asked) return undefined;
    return flight.isWatch ? streamed(world, url, revision) : listed(url, revision);
  };
  world.network.rules.add(rule);
  return () => {
    world.network.rules.delete(rule);
    chances.close();
    revisions.close();
  };
};

/** What asks for no more than what some server has in its cache. */
function takesOld({ method, isWatch }: Flight, { pathname, searchParams }: URL, unversioned: boolean): boolean {
  if (method !== 'GET' || searchParams.has('continue') || parseRoute(pathname)?.name !== undefined) return false;
  const version = searchParams.get('resourceVersion') ?? '';
  const match = searchParams.get('resourceVersionMatch');
  if (isWatch) return searchParams.get('sendInitialEvents') === 'true' && (version !== '' || unversioned);
  return version === '0' || (version !== '' && match === 'NotOlderThan');
}

function listed(url: URL, revision: number): Effect {
  url.searchParams.set('resourceVersion', String(revision));
  url.searchParams.set('resourceVersionMatch', 'Exact');
  return { path: url.pathname + url.search };
}

/** The objects as they were, then all that happened since. */
function streamed({ kube }: World, url: URL, revision: number): Effect | undefined {
  const route = parseRoute(url.pathname);
  const type = route && kube.registry.find(route.group, route.version, route.plural);
  // Which objects were selected then is more than a replica's age is worth.
  if (type === undefined || url.searchParams.has('fieldSelector') || url.searchParams.has('labelSelector'))
    return undefined;
  const objects = kube.store.listAt(revision, type.storage, route?.namespace);
  const bookmark = {
    ...{ kind: type.kind, apiVersion: `${type.group === '' ? '' : `${type.group}/`}${type.version}` },
    metadata: { resourceVersion: String(revision), annotations: { 'k8s.io/initial-events-end': 'true' } },
  };
  const ahead = [
    ...objects.map((stored) => `{"type":"ADDED","object":${textAs(type, stored)}}\n`),
    `${JSON.stringify({ type: 'BOOKMARK', object: bookmark })}\n`,
  ].join('');
  for (const name of ['sendInitialEvents', 'resourceVersionMatch']) url.searchParams.delete(name);
  url.searchParams.set('resourceVersion', String(revision));
  return { ahead, path: url.pathname + url.search };
}

export const staleLists: TroubleKind = {
  about: 'lists that ask for no version in particular are answered by a replica that is behind',
  begin,
  plan: (chance) =>
    lasting(chance, [20, 180], {
      ageMs: chance.pick([2_000, 10_000, 60_000]),
      probability: chance.pick([0.5, 1]),
      unversioned: chance.chance(0.3),
    }),
};

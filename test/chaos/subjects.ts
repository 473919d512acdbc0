import { isDeepStrictEqual } from 'node:util';
import { annotation } from '../../src/operator/reconcile/resource/annotations.ts';
import type { ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import type { Seed } from '../../src/reference/cloud-api/seed/schema.ts';
import type { TestCloud } from '../support/cloud-api.ts';
import type { Random } from './random.ts';

type Json = Readonly<Record<string, unknown>>;

/** A kind of resource that the campaign makes, and how to tell that the outside is as such resources ask. */
export interface Subject {
  readonly kind: string;
  spec(name: string, random: Random): Json;
  /** Changes or deletes behind the operator's back what the resource stands for. */
  disturb(object: ManagedObject, random: Random): Promise<void>;
  /** Whether that deleted the external object that the resource has on record. */
  hasDeleted?(object: ManagedObject): boolean;
  /** What is wrong outside, given every resource of the kind that there is. */
  wrongs(objects: readonly ManagedObject[]): Promise<readonly string[]>;
}

export const names = ['a', 'b', 'c', 'd', 'e', 'f'] as const;

const policies = ['ipp_1', 'ipp_2'] as const;
const edge = 'edghts_chaos';
const routeOf = (name: string) => `edghtsrt_${name}`;

export const seed: Seed = {
  ip_policies: [...policies],
  https_edges: [{ id: edge, routes: names.map(routeOf) }],
};

/** Many ask for the same: then only their ids tell the objects apart. */
function textOf(name: string, random: Random): string {
  return random.chance(0.4) ? 'the same for all' : `${name} ${random.whole(1, 3)}`;
}

const reservedAddr = (cloud: TestCloud) =>
  listable(cloud, 'ReservedAddr', '/reserved_addrs', 'reserved_addrs', {
    spec: (name, random) => ({ description: textOf(name, random), metadata: random.pick(['', 'm']) }),
    drift: (random) => ({ description: `drifted ${random.whole(1, 9)}` }),
    content: ({ description, metadata = '' }) => ({ description, metadata }),
  });

const botUser = (cloud: TestCloud) =>
  listable(cloud, 'BotUser', '/bot_users', 'bot_users', {
    spec: (name, random) => ({ name: textOf(name, random), active: random.chance(0.7) }),
    drift: (random) => ({ active: random.chance(0.5) }),
    content: ({ name, active }) => ({ name, active }),
  });

const parts = { compression: 'compression', ipRestriction: 'ip_restriction' } as const;
type PartName = keyof typeof parts;
const partPath = (name: string, part: PartName) => `/edges/https/${edge}/routes/${routeOf(name)}/${parts[part]}`;

const routeModules = (cloud: TestCloud): Subject => ({
  kind: 'HttpsRouteModules',
  spec: (name, random) => ({
    edgeID: edge,
    routeID: routeOf(name),
    ...(random.chance(0.7) ? { compression: { enabled: random.chance(0.5) } } : {}),
    ...(random.chance(0.7) ? { ipRestriction: { enabled: true, ipPolicyIDs: [random.pick(policies)] } } : {}),
  }),
  async disturb({ metadata, spec, status }, random) {
    const part = random.pick(['compression', 'ipRestriction'] as const);
    // What the resource never had would not be its own to remove.
    const wasApplied = (status?.[part] as { readonly applied?: boolean } | undefined)?.applied === true;
    if (spec[part] === undefined || !wasApplied) return;
    if (random.chance(0.5)) await cloud.call('DELETE', partPath(metadata.name, part));
    else await cloud.call('PUT', partPath(metadata.name, part), { enabled: random.chance(0.5) });
  },
  async wrongs(objects) {
    const found = await Promise.all(
      names.flatMap((name) =>
        (Object.keys(parts) as PartName[]).map((part) => wrongModule(cloud, objects, name, part)),
      ),
    );
    return found.flat();
  },
});

export function cloudSubjects(cloud: TestCloud): readonly Subject[] {
  return [reservedAddr(cloud), botUser(cloud), routeModules(cloud)];
}

async function wrongModule(
  cloud: TestCloud,
  objects: readonly ManagedObject[],
  name: string,
  part: PartName,
): Promise<string[]> {
  const asked = objects.find(({ metadata }) => metadata.name === name)?.spec[part] as Json | undefined;
  const { status, body } = await cloud.call('GET', partPath(name, part));
  const there =
    status === 404
      ? undefined
      : {
          enabled: body.enabled,
          ...(part === 'compression' ? {} : { ipPolicyIDs: body.ip_policies.map(({ id }: { id: string }) => id) }),
        };
  if (isDeepStrictEqual(there, asked)) return [];
  return [`${part} of ${name} is ${JSON.stringify(there)}, asked for was ${JSON.stringify(asked)}`];
}

/** A kind whose ids the cloud assigns. */
function listable(
  cloud: TestCloud,
  kind: string,
  path: string,
  list: string,
  is: {
    readonly spec: Subject['spec'];
    readonly drift: (random: Random) => Json;
    /** What spec and object have in common. */
    readonly content: (from: Json) => Json;
  },
): Subject {
  const idOf = ({ metadata }: ManagedObject) => metadata.annotations?.[annotation.externalID];
  const deleted = new Set<string | undefined>();
  return {
    kind,
    spec: is.spec,
    async disturb(object, random) {
      const id = idOf(object);
      if (id === undefined) return;
      if (!random.chance(0.4)) return void (await cloud.call('PATCH', `${path}/${id}`, is.drift(random)));
      deleted.add(id);
      await cloud.call('DELETE', `${path}/${id}`);
    },
    hasDeleted: (object) => deleted.has(idOf(object)),
    async wrongs(objects) {
      const { body } = await cloud.call('GET', path);
      const left = new Map<unknown, Json>((body[list] as Json[]).map((external) => [external.id, external]));
      const wrong: string[] = [];
      for (const object of objects) {
        const id = idOf(object);
        const external = left.get(id);
        left.delete(id);
        const what = `${kind} ${object.metadata.name}`;
        if (id !== object.status?.id) wrong.push(`${what}: recorded is ${id}, shown is ${object.status?.id}`);
        if (external === undefined) wrong.push(`${what}: ${id} is not there, or another's`);
        else if (!isDeepStrictEqual(is.content(external), is.content(object.spec)))
          wrong.push(`${what}: ${JSON.stringify(external)} is not ${JSON.stringify(object.spec)}`);
      }
      for (const external of left.values()) wrong.push(`${kind}: nobody's ${JSON.stringify(external)}`);
      return wrong;
    },
  };
}

import type { Chance } from '../core/random.ts';
import type { InstallationSpec } from '../core/story.ts';
import { agentAndTunnels } from './agents.ts';
import { apiKeys } from './cloud-keys.ts';
import { type Role, specFor } from './content.ts';
import { type CastAccount, type CastResource, firstInstallation, type Scene } from './scene.ts';
import { logBetween, someTime } from './times.ts';

/** Kinds and how their names begin. */
const nicknames: Readonly<Record<string, string>> = {
  ReservedAddr: 'addr',
  BotUser: 'bot',
  HttpsRouteModules: 'route',
  HttpsEdgeModules: 'edge',
  TlsEdgeTrafficPolicy: 'tls',
};

/** Those after it belong to habits. */
const edges = 4;

/**
 * Something of everything, so that each habit and each trouble finds something to work on. Half of the scenes are close-ups:
 * little is there, and what is done comes within seconds of a birth, as a second thing seldom does in the others.
 */
export function plainScene(chance: Chance): Scene {
  const isClose = chance.of('close').chance(0.5);
  const spanMs = isClose ? logBetween(chance, 30_000, 120_000) : logBetween(chance, 60_000, 900_000);
  const moments = Array.from({ length: chance.int(2, 5) }, () => chance.int(spanMs * 0.05, spanMs * 0.8)).sort(
    (a, b) => a - b,
  );
  const bare: Scene = {
    ...{ spanMs, moments, cloud: { apiKeys }, accounts: [], resources: [] },
    installations: [installation(chance.of('installation'))],
  };
  const namespaces = ['a', 'b', 'c'].slice(0, chance.pick([1, 2, 2, 3]));
  const accounts = accountsIn(namespaces, chance.of('accounts'));
  const resources = resourcesIn(bare, namespaces, accounts, isClose ? 0 : 8, chance.of('resources'));
  const births = [...new Set(resources.map(({ bornAt }) => bornAt))].sort((a, b) => a - b);
  const scene = { ...bare, accounts, resources: [...resources, ...agentsIn(bare, chance.of('agents'))] };
  return isClose ? { ...scene, moments: births } : scene;
}

function installation(chance: Chance): InstallationSpec {
  const anyInterval = chance.pick(['', '1m', '5m']);
  const replicas = chance.pick([1, 1, 1, 1, 2, 3]);
  const shards = replicas > 1 ? chance.of('shards').pick(['', '', '2', '3']) : '';
  // While such a world comes to rest it does little but renew Leases: the less it waits for checks, the more stories are told.
  const resyncInterval = replicas > 1 && chance.of('long rest').chance(0.8) ? '1m' : anyInterval;
  return {
    ...{ name: firstInstallation, replicas },
    settings: {
      allowedApiHosts: 'http://other-cloud.sim',
      ...(resyncInterval !== '' && { resyncInterval }),
      ...(shards !== '' && { shards }),
    },
  };
}

/** In namespace a always, so that there are users of an account of their own. */
function accountsIn(namespaces: readonly string[], chance: Chance): readonly CastAccount[] {
  const own = (namespace: string, holds: CastAccount['holds']): CastAccount => {
    const role: Role = { kind: 'CloudAccount', namespace, name: 'own' };
    return { namespace, name: 'own', holds, spec: specFor(role, chance), bornAt: chance.int(0, 2_000) };
  };
  return [own('a', 'blue'), ...(namespaces.includes('b') && chance.chance(0.6) ? [own('b', 'green')] : [])];
}

function resourcesIn(
  scene: Scene,
  namespaces: readonly string[],
  accounts: readonly CastAccount[],
  mostMore: number,
  chance: Chance,
): readonly CastResource[] {
  const kinds = [
    ...['ReservedAddr', 'BotUser', 'ReservedAddr', 'HttpsRouteModules'],
    ...Array.from({ length: chance.int(0, mostMore) }, () => chance.pick(Object.keys(nicknames))),
  ];
  const taken = new Map<string, number>();
  return kinds.flatMap((kind, index): CastResource[] => {
    const namespace = index === 0 ? 'a' : chance.pick(namespaces);
    const accountHere = accounts.find((each) => each.namespace === namespace);
    const account = index === 0 || chance.chance(0.4) ? accountHere : undefined;
    const holds = account?.holds ?? 'main';
    const edge = taken.get(`${kind} ${holds}`) ?? 0;
    taken.set(`${kind} ${holds}`, edge + 1);
    if (edge >= edges && !['ReservedAddr', 'BotUser'].includes(kind)) return [];
    const name = `${nicknames[kind]}-${index}`;
    const role: Role = { kind, namespace, name, edge, ...(account && { account: account.name }) };
    const bornAt = chance.chance(0.4) ? chance.int(0, 3_000) : someTime(chance, scene) * 0.8;
    const spec = specFor(role, chance);
    return [
      { kind, namespace, name, ...(account && { account: account.name }), holds, spec, bornAt: Math.round(bornAt) },
    ];
  });
}

/** An agent with some tunnels, mostly. */
function agentsIn(scene: Scene, chance: Chance): readonly CastResource[] {
  if (chance.chance(0.4)) return [];
  const agent = { kind: 'Agent', namespace: 'a', name: 'agent' };
  return agentAndTunnels({ agent, at: 'agent-a', tunnels: chance.int(1, 2) }, scene, chance);
}

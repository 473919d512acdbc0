import { Chance } from '../core/random.ts';
import type { Act, Deed, Manifest, Story } from '../core/story.ts';
import { troubles } from '../troubles/index.ts';
import { accountSecret, manifestsOf, namespace } from './resources.ts';

const [second, minute, hour] = [1_000, 60_000, 3_600_000];

/** 20 of all kinds. */
export const residents = {
  CloudAccount: 1,
  ReservedAddr: 4,
  BotUser: 4,
  HttpsRouteModules: 3,
  HttpsEdgeModules: 2,
  TlsEdgeTrafficPolicy: 2,
  Agent: 1,
  AgentTunnel: 2,
  RequestReplay: 1,
} as const;

const edits: Readonly<Record<string, (n: number) => object>> = {
  ReservedAddr: (n) => ({ description: `edit ${n}` }),
  BotUser: (n) => ({ active: n % 2 === 0 }),
  HttpsRouteModules: (n) => ({ compression: { enabled: n % 2 === 0 } }),
  HttpsEdgeModules: (n) => ({ tlsTermination: { minVersion: n % 2 === 0 ? '1.2' : '1.3' } }),
  AgentTunnel: (n) => ({ addr: String(8_000 + (n % 100)) }),
};

/** Somebody edits something twice a minute, and every five minutes another trouble begins. */
export function speedStory(seed: number, hours: number): Story {
  const chance = new Chance('speed', seed);
  const installations = [{ name: 'op' }];
  const made = manifestsOf(residents);
  const at =
    (ms: number) =>
    (deed: Deed): Act => ({ ...deed, at: ms });
  const needed: readonly Deed[] = [accountSecret, { do: 'capture', agent: 'agent-a', tunnel: 'web', name: 'captured' }];
  const names = chance.shuffled(Object.keys(troubles));
  const troubled = steps(5 * minute, hours).map((ms, n): Act => {
    const name = names[n % names.length] ?? '';
    const plan = troubles[name]?.plan(chance.of(name, n), { installations });
    return { at: ms, do: 'trouble', name, forMs: 2 * minute, ...(plan?.with === undefined ? {} : { with: plan.with }) };
  });
  const acts: readonly Act[] = [
    { at: 0, do: 'start', installation: 'op' },
    ...needed.map(at(second)),
    ...made.map((object) => at(2 * second)({ do: 'apply', object })),
    ...steps(30 * second, hours).map((ms, n) => at(ms)(edit(chance, made, n))),
    ...troubled,
  ];
  return { seed, installations, acts: acts.toSorted((a, b) => a.at - b.at), calmMs: 0 };
}

function steps(everyMs: number, hours: number): readonly number[] {
  return Array.from({ length: Math.floor((hours * hour) / everyMs) - 1 }, (_, n) => (n + 1) * everyMs);
}

function edit(chance: Chance, made: readonly Manifest[], n: number): Deed {
  const { kind, metadata } = chance.pick(made.filter((each) => each.kind in edits));
  return { do: 'patch', ref: { kind, namespace, name: metadata.name }, patch: { spec: edits[kind]?.(n) } };
}

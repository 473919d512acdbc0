import type { Oracle } from '../core/run.ts';
import { run } from '../core/run.ts';
import type { Act, Deed, Manifest, Story } from '../core/story.ts';

const second = 1_000;
const apiVersion = 'edge-operator.dev/v1alpha1';
const crowdAt = 60 * second;

/** What stands in the way of a change: 12 users of an account of one request a minute, and 400 pending addresses. */
export interface Others {
  readonly poor: number;
  readonly crowd: number;
}

export const nobody: Others = { poor: 0, crowd: 0 };
export const many: Others = { poor: 12, crowd: 400 };

/** The accounts that the third tenant has: one of its own, and the operator's, which the crowd uses too. */
export const accounts = ['own', 'shared'] as const;
export type AccountName = (typeof accounts)[number];

/**
 * How long, in virtual milliseconds, two changes of a third tenant take from the edit of a spec to its status: what it
 * has with each of its accounts is edited `afterMs` after the others came, and so is made a new one.
 */
export async function delaysOf(others: Others, afterMs: number): Promise<Readonly<Record<string, number>>> {
  const at = crowdAt + afterMs;
  const answered = new Map<string, number>();
  const oracle: Oracle = (world) => {
    world.onChange(({ current: { object } }) => {
      const { namespace = '', name = '' } = object.metadata;
      const status = object.status as { observedGeneration?: number; conditions?: { type: string; status: string }[] };
      const isReady = status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') === true;
      const isCurrent = status?.observedGeneration === object.metadata.generation;
      if (namespace !== 'third' || object.kind !== 'BotUser' || world.scheduler.now < at) return;
      if (isReady && isCurrent && !answered.has(name)) answered.set(name, world.scheduler.now - at);
    });
    return {};
  };
  await run(storyOf(others, at), { oracles: [oracle], troubles: {}, mostRequests: 100_000 });
  const names = accounts.flatMap((account) => [`${account}-edited`, `${account}-new`]);
  return Object.fromEntries(names.map((name) => [name, answered.get(name) ?? Number.POSITIVE_INFINITY]));
}

function storyOf({ poor, crowd }: Others, at: number): Story {
  const acts: readonly Act[] = [
    { at: 0, do: 'start', installation: 'op' },
    ...account('third', 'own', 120).map((deed): Act => ({ ...deed, at: second })),
    ...accounts.map((name): Act => ({ at: 2 * second, do: 'apply', object: bot('third', `${name}-edited`, name) })),
    ...(poor === 0 ? [] : account('poor', 'own', 1)).map((deed): Act => ({ ...deed, at: crowdAt })),
    ...(poor === 0 ? [] : [severalOf(poor, bot('poor', 'poor-{{n}}', 'own'))]),
    ...(crowd === 0 ? [] : [severalOf(crowd, address('crowd', 'crowd-{{n}}'))]),
    ...accounts.flatMap((name): Act[] => [
      {
        at,
        do: 'patch',
        ref: { kind: 'BotUser', namespace: 'third', name: `${name}-edited` },
        patch: { spec: { active: false } },
      },
      { at, do: 'apply', object: bot('third', `${name}-new`, name) },
    ]),
  ];
  const apiKeys = ['main=main-key-CANARY-0', 'third=third-key-CANARY-1', 'poor=poor-key-CANARY-2'];
  return {
    seed: 1,
    installations: [{ name: 'op' }],
    cloud: { apiKeys },
    acts: acts.toSorted((a, b) => a.at - b.at),
    settleMs: 60 * second,
    calmMs: 0,
  };
}

function severalOf(times: number, object: Manifest): Act {
  return { at: crowdAt, do: 'apply', object, times };
}

function account(namespace: string, name: string, requestsPerMinute: number): readonly Deed[] {
  const key = namespace === 'poor' ? 'poor-key-CANARY-2' : 'third-key-CANARY-1';
  return [
    {
      do: 'apply',
      object: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key', namespace }, stringData: { key } },
    },
    {
      do: 'apply',
      object: {
        apiVersion,
        kind: 'CloudAccount',
        metadata: { name, namespace },
        spec: { apiKeySecretRef: { name: 'key', key: 'key' }, requestsPerMinute },
      },
    },
  ];
}

function bot(namespace: string, name: string, accountName: AccountName): Manifest {
  const spec = { name, ...(accountName === 'own' ? { accountRef: { name: 'own' } } : {}) };
  return { apiVersion, kind: 'BotUser', metadata: { name, namespace }, spec };
}

function address(namespace: string, name: string): Manifest {
  return { apiVersion, kind: 'ReservedAddr', metadata: { name, namespace }, spec: { description: name } };
}

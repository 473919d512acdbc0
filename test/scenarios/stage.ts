import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { conditionOf, type ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';
import {
  authorities,
  type ExternalCase,
  endpointConfiguration,
  hooks,
  idp,
  ipPolicies,
  type KindCase,
  type Parents,
  parentsOf,
  seedOf,
} from './kinds.ts';

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

export type Stage = ReturnType<typeof useStage>;

/**
 * For the tests of one file: one operator, as a process of its own, that checks for drift every second. Every test has
 * its own namespace, edges and route.
 */
export function useStage() {
  const current = {} as { world: World; namespace: string; parents: Parents; number: number };
  current.number = 0;

  beforeAll(async () => {
    current.world = await startWorld();
    current.world.cloud.seed({
      endpoint_configurations: [endpointConfiguration],
      ip_policies: ipPolicies,
      certificate_authorities: authorities,
    });
    current.world.startOperator(['--resync-interval', '1s', '--requests-per-minute', '10000']);
  });
  beforeEach(async () => {
    current.number += 1;
    current.parents = parentsOf(current.number);
    current.world.cloud.seed(seedOf(current.parents));
    current.namespace = await current.world.namespace();
    await give('Secret', 'hooks', hooks);
    await give('ConfigMap', 'idp', idp);
    current.world.cloud.clearFaults();
    current.world.cloud.clearRequests();
  });
  afterAll(() => current.world.stop());

  const give = (kind: 'Secret' | 'ConfigMap', name: string, data: Readonly<Record<string, string>>) =>
    current.world.give(kind, current.namespace, name, data);

  /** What the operator asked of the cloud. */
  const requests = () =>
    current.world.cloud.requests().filter(({ headers }) => String(headers['user-agent']).startsWith('edge-operator/'));

  /** What it asked of this test's edges and route. */
  const calls = () => {
    const ids = Object.values(current.parents);
    return requests().filter(({ path }) => path.split('/').some((part) => ids.includes(part)));
  };

  const looksAt = (external: ExternalCase) =>
    requests().filter(({ method, path }) => method === 'GET' && path === external.path(current.parents)).length;

  return Object.assign(current, {
    give,
    requests,
    calls,
    looksAt,

    /** What the operator asked to be changed there. */
    mutations: () => changesOf(calls()),
    puts: (externals: readonly ExternalCase[]) =>
      byPath(externals.map(({ path, sent }) => ({ method: 'PUT', path: path(current.parents), body: sent }))),
    deletes: (externals: readonly ExternalCase[]) =>
      byPath(externals.map(({ path }) => ({ method: 'DELETE', path: path(current.parents) }))),

    /** Waits until the operator looked at every one of them `count` times again. */
    async rounds(externals: readonly ExternalCase[], count: number): Promise<void> {
      const before = externals.map(looksAt);
      const looked = () => externals.every((each, index) => looksAt(each) >= (before[index] ?? 0) + count);
      await until(`${count} rounds`, looked);
    },

    apply: (row: KindCase, name: string, fields: object, annotations?: object): Promise<ManagedObject> =>
      current.world.apply(row.kind, current.namespace, name, { ...row.ids(current.parents), ...fields }, annotations),

    /** Waits until an external's own condition has the reason. */
    conditionReason: (object: ManagedObject, { condition }: ExternalCase, reason: string): Promise<ManagedObject> =>
      until(`${condition} to be ${reason}`, async () => {
        const found = await current.world.get(object);
        return found && conditionOf(found, condition)?.reason === reason && found;
      }),

    /** As somebody else, who is not the operator. */
    call: (method: string, { path }: ExternalCase, body?: unknown) =>
      current.world.cloud.call(method, path(current.parents), body),

    notesOf: async (object: ManagedObject, reason: string, atLeast?: number) =>
      (await current.world.eventsOf(object, reason, atLeast)).map((event) => event.note),
  });
}

/** What calls change, in an order that means nothing: parts do not wait for each other. */
export function changesOf(calls: readonly Sent[]): readonly Sent[] {
  const changing = calls.filter(({ method }) => method !== 'GET');
  return byPath(
    changing.map(({ method, path, body }) => (body === undefined ? { method, path } : { method, path, body })),
  );
}

export const byPath = (calls: readonly Sent[]) => calls.toSorted((a, b) => (a.path < b.path ? -1 : 1));

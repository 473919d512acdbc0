import { describe, expect, test } from '@jest/globals';
import { systemRuntime } from '../../common/runtime.ts';
import type { LeaseSpec } from '../controller/lease.ts';
import type { KubeClient } from '../kube/client.ts';
import type { ObjectRef, ResourceType } from '../kube/types.ts';
import { leaderCheck } from './leader.ts';

describe('the operator', () => {
  const now = Date.parse('2026-01-01T00:00:20Z');
  const clock = { ...systemRuntime.clock, now: () => now };
  const looked = (leases: Readonly<Record<string, LeaseSpec | undefined>>, shards: number) => {
    const get = async (_: ResourceType, { name }: ObjectRef) => leases[name] && { spec: leases[name] };
    return leaderCheck({ client: { get } as unknown as KubeClient, clock, namespace: 'edge', shards }).run();
  };
  const check = (spec?: LeaseSpec) => looked({ 'edge-operator': spec }, 1);
  const held = { holderIdentity: 'pod_1', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:10.000000Z' };

  test('that holds the Lease acts', async () => {
    expect(await check(held)).toEqual({ at: 'pod_1', findings: [] });
  });

  test('whose Lease is not there may be in another namespace, or act without one: nobody knows', async () => {
    const { findings, failed, cure } = await check();
    expect([findings, failed]).toEqual([[], 'there is no Lease edge-operator in namespace edge']);
    expect(cure).toContain('one that runs without --leader-elect has none');
    expect(cure).toMatch(/where there are none, install it: docs\/install\.md$/);
    expect(cure).toMatch(/^if the operator is in another namespace, name that: --leader-elect-namespace;/);
  });

  test.each([
    ['it was given away', { ...held, holderIdentity: '' }, 'no operator acts'],
    ['it ran out', { ...held, renewTime: '2025-12-31T23:59:00Z' }, 'the operator that acted, pod_1, is gone'],
  ])('%s', async (_why, spec, problem) => {
    expect((await check(spec)).findings.map((finding) => finding.problem)).toEqual([problem]);
  });

  describe('that has shards', () => {
    const together = { ...held, holderIdentity: '4 shards' };
    const inShards = (...specs: readonly (LeaseSpec | undefined)[]) =>
      looked(
        Object.fromEntries([['edge-operator', together], ...specs.map((spec, i) => [`edge-operator-${i}`, spec])]),
        4,
      );

    test('acts where each is held', async () => {
      const other = { ...held, holderIdentity: 'pod_2' };
      expect(await inShards(held, other, held, other)).toEqual({ at: 'pod_1, pod_2', findings: [] });
    });

    test('does not in one that nobody holds, though all hold the Lease of all', async () => {
      const away = { ...held, holderIdentity: 'pod_2', renewTime: '2025-12-31T23:59:00Z' };
      const { findings } = await inShards(held, undefined, away, { ...held, holderIdentity: '' });
      expect(findings.map(({ problem }) => problem)).toEqual([
        'no operator acts in shard 1, 3',
        'the operator that acted in shard 2, pod_2, is gone',
      ]);
    });

    test.each([
      [together, 1, '4 shards', '--shards 4'],
      [together, 3, '4 shards', '--shards 4'],
      [held, 3, '1 shard', '--shards 1'],
    ])('of another number than was said is not looked at (%#)', async (spec, shards, number, flag) => {
      const { findings, failed, cure } = await looked({ 'edge-operator': spec }, shards);
      expect([findings, failed]).toEqual([[], `the operator in namespace edge divides its work into ${number}`]);
      expect(cure).toContain(flag);
    });
  });
});

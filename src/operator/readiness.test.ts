import { describe, expect, test } from '@jest/globals';
import { createMetrics } from './metrics/metrics.ts';
import { readinessOf, unready } from './readiness.ts';
import type { ManagedObject } from './reconcile/resource/resource.ts';

const object = (status: string | undefined, reason = 'Available') =>
  ({ status: { conditions: status === undefined ? [] : [{ type: 'Ready', status, reason }] } }) as ManagedObject;

const followed = (kind: string, objects: readonly ManagedObject[] = [], state = {}) => ({
  kind,
  resources: { missing: false, synced: true, ...state, list: () => objects },
});

describe('readiness', () => {
  test('of a hundred thousand resources is whole, and a few samples', async () => {
    const bots = Array.from({ length: 60_000 }, () => object('True'));
    const addrs = Array.from({ length: 40_000 }, (_, i) =>
      i === 39_999 ? object('False', 'Conflict') : object('True'),
    );
    const kinds = [followed('BotUser', bots), followed('ReservedAddr', addrs)];
    let samples = 0;
    const metrics = createMetrics({ version: '1', ofProcess: false, now: () => 0 });
    metrics.poll('resources', () => {
      const all = kinds.flatMap(readinessOf);
      samples = all.length;
      return all;
    });
    const { body } = await metrics.scrape();
    expect(body.split('\n').filter((line) => line.startsWith('edge_operator_resources{'))).toEqual([
      'edge_operator_resources{kind="BotUser",ready="True",reason="Available"} 60000',
      'edge_operator_resources{kind="ReservedAddr",ready="True",reason="Available"} 39999',
      'edge_operator_resources{kind="ReservedAddr",ready="False",reason="Conflict"} 1',
    ]);
    expect(samples).toBe(3);
  });

  test('without a condition waits for its first turn, and what nobody here writes is `other`', () => {
    expect(readinessOf(followed('BotUser', [object(undefined), object('False', 'Made-up')]))).toEqual([
      { labels: { kind: 'BotUser', ready: 'Unknown', reason: 'Pending' }, value: 1 },
      { labels: { kind: 'BotUser', ready: 'False', reason: 'other' }, value: 1 },
    ]);
  });
});

describe('the operator', () => {
  test('is ready when every kind is followed', () => {
    expect(unready([followed('BotUser'), followed('Agent')])).toBeUndefined();
  });

  test('is not while a kind has yet to be listed, and says which', () => {
    const kinds = [followed('BotUser'), followed('Agent', [], { synced: false })];
    expect(unready(kinds)).toBe('not synced yet: Agent');
  });

  test('is not while a kind is not served, also when it once was', () => {
    const kinds = [followed('BotUser', [], { missing: true }), followed('Agent')];
    expect(unready(kinds)).toBe('not served by the API server: BotUser; are their definitions installed?');
  });
});

import { describe, expect, test } from '@jest/globals';
import { setup } from './scrape.fixture.ts';

describe('the cloud', () => {
  test('requests are counted by operation, class of status, and outcome', async () => {
    const { metrics, lines } = setup();
    const sample = { operation: 'bot_users.get', ms: 20, waitedMs: 1500, priority: 'resync' };
    metrics.cloudRequest({ ...sample, status: 200, outcome: 'ok' });
    metrics.cloudRequest({ ...sample, status: 404, outcome: 'ok' });
    metrics.cloudRequest({ ...sample, status: undefined, outcome: 'Unreachable' });
    expect(await lines('edge_operator_cloud_requests_total')).toEqual([
      'edge_operator_cloud_requests_total{operation="bot_users.get",code="2xx",outcome="ok"} 1',
      'edge_operator_cloud_requests_total{operation="bot_users.get",code="4xx",outcome="ok"} 1',
      'edge_operator_cloud_requests_total{operation="bot_users.get",code="none",outcome="Unreachable"} 1',
    ]);
    expect(await lines('edge_operator_cloud_limiter_wait_seconds_sum')).toEqual([
      'edge_operator_cloud_limiter_wait_seconds_sum{priority="resync"} 4.5',
    ]);
  });

  test('a budget is read at each scrape until it is given up', async () => {
    const { metrics, lines } = setup();
    let used = 3;
    const state = () => ({ used, limit: 120, waiting: { change: 1, resync: 7 }, pausedUntilMs: 5 });
    const stop = metrics.account('team-a/main').show(state);
    used = 4;
    expect(await lines('edge_operator_cloud_rate_limit_used_requests')).toEqual([
      'edge_operator_cloud_rate_limit_used_requests{account="team-a/main"} 4',
    ]);
    expect(await lines('edge_operator_cloud_rate_limit_paused')).toEqual([
      'edge_operator_cloud_rate_limit_paused{account="team-a/main"} 1',
    ]);
    expect(await lines('edge_operator_cloud_rate_limit_waiting_requests')).toEqual([
      'edge_operator_cloud_rate_limit_waiting_requests{account="team-a/main",priority="change"} 1',
      'edge_operator_cloud_rate_limit_waiting_requests{account="team-a/main",priority="resync"} 7',
    ]);
    stop();
    expect(await lines('edge_operator_cloud_rate_limit_used_requests')).toEqual([]);
  });
});

test('build, leader, drift and the process are there, each registry for itself', async () => {
  const { metrics, lines } = setup();
  setup();
  metrics.holds(0, false);
  metrics.holds(1, true);
  metrics.drift('BotUser')();
  metrics.drift('ReservedAddr');
  expect(await lines('edge_operator_leader')).toEqual(['edge_operator_leader 1']);
  expect(await lines('edge_operator_shard_held')).toEqual([
    'edge_operator_shard_held{shard="0"} 0',
    'edge_operator_shard_held{shard="1"} 1',
  ]);
  metrics.holds(1, false);
  expect(await lines('edge_operator_leader')).toEqual(['edge_operator_leader 0']);
  expect(await lines('edge_operator_drift_corrected_total')).toEqual([
    'edge_operator_drift_corrected_total{kind="BotUser"} 1',
    'edge_operator_drift_corrected_total{kind="ReservedAddr"} 0',
  ]);
  expect((await lines('edge_operator_build_info'))[0]).toContain('version="1.2.3"');
  expect(await lines('process_start_time_seconds')).toHaveLength(1);
});

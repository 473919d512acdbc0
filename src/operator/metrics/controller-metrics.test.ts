import { describe, expect, test } from '@jest/globals';
import { setup } from './scrape.fixture.ts';

describe('reconciles', () => {
  test('are counted by result, timed, and shown while they run', async () => {
    const { metrics, lines } = setup();
    const hooks = metrics.reconciles('botuser', 4);
    hooks.onActiveWorkers(1);
    hooks.onReconcile('error', 0.03);
    hooks.onReconcile('success', 0);
    expect(await lines('controller_runtime_active_workers')).toEqual([
      'controller_runtime_active_workers{controller="botuser"} 1',
    ]);
    expect(await lines('controller_runtime_max_concurrent_reconciles')).toEqual([
      'controller_runtime_max_concurrent_reconciles{controller="botuser"} 4',
    ]);
    expect(await lines('controller_runtime_reconcile_errors_total')).toEqual([
      'controller_runtime_reconcile_errors_total{controller="botuser"} 1',
    ]);
    expect(await lines('controller_runtime_reconcile_total')).toEqual([
      'controller_runtime_reconcile_total{controller="botuser",result="success"} 1',
      'controller_runtime_reconcile_total{controller="botuser",result="error"} 1',
      'controller_runtime_reconcile_total{controller="botuser",result="requeue"} 0',
      'controller_runtime_reconcile_total{controller="botuser",result="requeue_after"} 0',
    ]);
    expect(await lines('controller_runtime_reconcile_time_seconds_sum')).toEqual([
      'controller_runtime_reconcile_time_seconds_sum{controller="botuser"} 0.03',
    ]);
  });
});

describe('queues', () => {
  test('show adds, retries, waits and work', async () => {
    const { metrics, lines } = setup();
    const state = { depth: () => 0, unfinishedMs: () => 0, longestRunningMs: () => 0 };
    const queue = metrics.queue('botuser', () => state);
    const labels = '{name="botuser",controller="botuser"}';
    queue.onAdd();
    queue.onAdd();
    queue.onStart(500);
    queue.onDone(250);
    queue.onRetry();
    expect(await lines('workqueue_adds_total')).toEqual([`workqueue_adds_total${labels} 2`]);
    expect(await lines('workqueue_retries_total')).toEqual([`workqueue_retries_total${labels} 1`]);
    expect(await lines('workqueue_queue_duration_seconds_sum')).toEqual([
      `workqueue_queue_duration_seconds_sum${labels} 0.5`,
    ]);
    expect(await lines('workqueue_work_duration_seconds_sum')).toEqual([
      `workqueue_work_duration_seconds_sum${labels} 0.25`,
    ]);
  });

  test('are asked for depth and work in progress at each scrape', async () => {
    const { metrics, lines } = setup();
    let depth = 1;
    const state = { depth: () => depth, unfinishedMs: () => 4_000, longestRunningMs: () => 3_000 };
    metrics.queue('botuser', () => state);
    const labels = '{name="botuser",controller="botuser"}';
    depth = 2;
    expect(await lines('workqueue_depth')).toEqual([`workqueue_depth${labels} 2`]);
    expect(await lines('workqueue_unfinished_work_seconds')).toEqual([`workqueue_unfinished_work_seconds${labels} 4`]);
    expect(await lines('workqueue_longest_running_processor_seconds')).toEqual([
      `workqueue_longest_running_processor_seconds${labels} 3`,
    ]);
  });
});

test('a wait of four minutes is told apart from one of five, as the alert asks', async () => {
  const { metrics, lines } = setup();
  metrics.queue('botuser').onStart(240_000);
  const counts = new Map(
    (await lines('workqueue_queue_duration_seconds_bucket')).map((line) => {
      const [, le = '', count = ''] = /le="([^"]+)".*\} (\d+)$/.exec(line) ?? [];
      return [le, Number(count)];
    }),
  );
  expect([counts.get('180'), counts.get('240'), counts.get('300')]).toEqual([0, 1, 1]);
});

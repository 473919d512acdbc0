import { describe, expect, test } from '@jest/globals';
import { createMetrics } from './metrics.ts';

function setup() {
  const metrics = createMetrics({ version: '1.2.3', now: () => 0 });
  return {
    metrics,
    /** The sample lines of one metric. */
    lines: async (name: string) => {
      const { body } = await metrics.scrape();
      return body.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
    },
  };
}

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

describe('the Kubernetes API', () => {
  test('has its requests counted by verb, resource and status', async () => {
    const { metrics, lines } = setup();
    const { onRequest } = metrics.kube;
    onRequest({ verb: 'patch', resource: 'botusers', status: 200, ms: 30 });
    onRequest({ verb: 'patch', resource: 'botusers', status: 409, ms: 30 });
    onRequest({ verb: 'watch', resource: 'leases', status: undefined, ms: 30 });
    expect(await lines('edge_operator_kubernetes_requests_total')).toEqual([
      'edge_operator_kubernetes_requests_total{verb="patch",resource="botusers",code="200"} 1',
      'edge_operator_kubernetes_requests_total{verb="patch",resource="botusers",code="409"} 1',
      'edge_operator_kubernetes_requests_total{verb="watch",resource="leases",code="none"} 1',
    ]);
    expect(await lines('edge_operator_kubernetes_request_seconds_sum')).toEqual([
      'edge_operator_kubernetes_request_seconds_sum{verb="patch"} 0.06',
      'edge_operator_kubernetes_request_seconds_sum{verb="watch"} 0.03',
    ]);
  });

  test('has its open watches counted, and the longest silence of each resource', async () => {
    let now = 0;
    const metrics = createMetrics({ version: '1', ofProcess: false, now: () => now });
    const shown = async () => {
      const { body } = await metrics.scrape();
      return body.split('\n').filter((line) => line.startsWith('edge_operator_kubernetes_watch'));
    };
    metrics.poll('watches', () => [{ labels: { resource: 'agents' }, value: 0 }]);
    const [first, second] = [metrics.kube.onWatch('botusers'), metrics.kube.onWatch('botusers')];
    now = 5_000;
    second.told();
    now = 7_000;
    const bots = '{resource="botusers"}';
    expect(await shown()).toEqual([
      `edge_operator_kubernetes_watches${bots} 2`,
      'edge_operator_kubernetes_watches{resource="agents"} 0',
      `edge_operator_kubernetes_watch_silence_seconds${bots} 7`,
    ]);
    first.closed();
    first.closed();
    expect(await shown()).toContain(`edge_operator_kubernetes_watch_silence_seconds${bots} 2`);
    second.closed();
    expect(await shown()).toEqual(['edge_operator_kubernetes_watches{resource="agents"} 0']);
  });
});

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

describe('an account', () => {
  const budget = () => ({ used: 0, limit: 120, waiting: {} });
  const ok = { status: 200, outcome: 'ok' };

  test.each<[{ status: number | undefined; outcome: string; keyRefused?: boolean }, string, string]>([
    [ok, 'usable', 'it answers'],
    [{ status: 429, outcome: 'RateLimited' }, 'usable', 'it answers, if not now'],
    [{ status: 403, outcome: 'Unauthorized' }, 'usable', 'only this one thing is forbidden'],
    [{ status: 401, outcome: 'Unauthorized', keyRefused: true }, 'unauthorized', 'the key is refused'],
    [{ status: 403, outcome: 'Unauthorized', keyRefused: true }, 'unauthorized', 'a list is refused'],
    [{ status: 503, outcome: 'Unreachable' }, 'unreachable', 'no answer that could be used'],
    [{ status: undefined, outcome: 'Unreachable' }, 'unreachable', 'no answer'],
  ])('after %j is %s: %s', async (sample, expected) => {
    const { metrics, lines } = setup();
    const account = metrics.account('default');
    account.show(budget);
    expect(await lines('edge_operator_cloud_account_state')).toEqual([]);
    account.onRequest(ok);
    account.onRequest(sample);
    expect(await lines('edge_operator_cloud_account_state')).toEqual(
      ['usable', 'unauthorized', 'unreachable'].map(
        (state) =>
          `edge_operator_cloud_account_state{account="default",state="${state}"} ${state === expected ? 1 : 0}`,
      ),
    );
  });

  test('is unauthorized while it has a key that cannot be sent, whatever the last request showed', async () => {
    const { metrics, lines } = setup();
    let isKeyUnusable = true;
    const account = metrics.account('default');
    account.show(() => ({ ...budget(), isKeyUnusable }));
    const current = async () =>
      (await lines('edge_operator_cloud_account_state')).filter((line) => line.endsWith(' 1'));
    const shown = (state: string) => [`edge_operator_cloud_account_state{account="default",state="${state}"} 1`];
    expect(await current()).toEqual(shown('unauthorized'));
    account.onRequest(ok);
    expect(await current()).toEqual(shown('unauthorized'));
    isKeyUnusable = false;
    expect(await current()).toEqual(shown('usable'));
  });

  test('counts its 429 answers from zero, and is gone when it is closed', async () => {
    const { metrics, lines } = setup();
    const account = metrics.account('default');
    const close = account.show(budget);
    const name = 'edge_operator_cloud_rate_limited_total';
    expect(await lines(name)).toEqual([`${name}{account="default"} 0`]);
    account.onRequest({ status: 429, outcome: 'RateLimited' });
    expect(await lines(name)).toEqual([`${name}{account="default"} 1`]);
    close();
    expect([...(await lines(name)), ...(await lines('edge_operator_cloud_account_state'))]).toEqual([]);
  });
});

describe('polled metrics', () => {
  test('forget what is gone and add up what several sources share', async () => {
    const { metrics, lines } = setup();
    const labels = { kind: 'BotUser', ready: 'True', reason: 'Available' };
    let failing = 1;
    metrics.poll('resources', () => [{ labels, value: 2 }]);
    metrics.poll('resources', () =>
      failing === 0
        ? [{ labels, value: 1 }]
        : [{ labels: { ...labels, ready: 'False', reason: 'Rejected' }, value: 1 }],
    );
    expect(await lines('edge_operator_resources')).toEqual([
      'edge_operator_resources{kind="BotUser",ready="True",reason="Available"} 2',
      'edge_operator_resources{kind="BotUser",ready="False",reason="Rejected"} 1',
    ]);
    failing = 0;
    expect(await lines('edge_operator_resources')).toEqual([
      'edge_operator_resources{kind="BotUser",ready="True",reason="Available"} 3',
    ]);
  });

  test('lose no kind, however many resources there are', async () => {
    const { metrics, lines } = setup();
    const samples = (kind: string, count: number, ready: string, reason: string) =>
      Array.from({ length: count }, () => ({ labels: { kind, ready, reason }, value: 1 }));
    metrics.poll('resources', () => samples('ReservedAddr', 10_000, 'True', 'Available'));
    metrics.poll('resources', () => samples('BotUser', 3, 'False', 'AmbiguousCreate'));
    expect(await lines('edge_operator_resources')).toEqual([
      'edge_operator_resources{kind="ReservedAddr",ready="True",reason="Available"} 10000',
      'edge_operator_resources{kind="BotUser",ready="False",reason="AmbiguousCreate"} 3',
    ]);
  });

  test('show the first of what tenants name, and the others as one', async () => {
    const { metrics, lines } = setup();
    const samples = Array.from({ length: 1500 }, (_, i) => ({ labels: { agent: 'a', tunnel: `t${i}` }, value: 1 }));
    metrics.poll('tunnelConnections', () => samples);
    const series = await lines('edge_operator_tunnel_connections_total');
    expect(series).toHaveLength(101);
    expect(series).toContain('edge_operator_tunnel_connections_total{agent="other",tunnel="other"} 1400');
  });

  describe('as counters that are shown as one', () => {
    const name = 'edge_operator_cloud_rate_limited_total';
    const limited = { status: 429, outcome: 'RateLimited' };
    const other = `${name}{account="other"}`;

    /** Each with so many 429s; the last ones are those without a name. */
    function accounts(counts: readonly number[]) {
      const { metrics, lines } = setup();
      const all = counts.map((count, index) => {
        const account = metrics.account(`a/${index}`);
        const close = account.show(() => ({ used: 0, limit: 10, waiting: {} }));
        const limit = () => account.onRequest(limited);
        for (let time = 0; time < count; time += 1) limit();
        return { close, limit };
      });
      const shown = async () => (await lines(name)).find((line) => line.startsWith(other));
      return { all, shown };
    }

    test('never fall when an account goes, or has a name from now on', async () => {
      const { all, shown } = accounts([...Array.from({ length: 30 }, () => 0), 20, 20, 20]);
      expect(await shown()).toBe(`${other} 60`);
      all[0]?.close();
      expect(await shown()).toBe(`${other} 60`);
      all[32]?.close();
      all[31]?.limit();
      expect(await shown()).toBe(`${other} 61`);
      all[31]?.close();
      expect(await shown()).toBe(`${other} 61`);
    });

    test('grow by what those without a name count, each from where it was, and anew where it began anew', async () => {
      const { metrics, lines } = setup();
      const labels = (tunnel: string) => ({ agent: 'a', tunnel });
      const named = Array.from({ length: 100 }, (_, i) => ({ labels: labels(`t${i}`), value: 5 }));
      let rest: { labels: { agent: string; tunnel: string }; value: number }[] = [];
      metrics.poll('tunnelConnections', () => [...named, ...rest]);
      const series = 'edge_operator_tunnel_connections_total{agent="other",tunnel="other"}';
      const shown = async (...values: readonly number[]) => {
        rest = values.map((value, index) => ({ labels: labels(`more-${index}`), value }));
        return (await lines('edge_operator_tunnel_connections_total')).find((line) => line.startsWith(series));
      };
      expect(await shown(10)).toBe(`${series} 10`);
      expect(await shown(12, 1_000)).toBe(`${series} 12`);
      expect(await shown(3, 1_001)).toBe(`${series} 16`);
      expect(await shown()).toBe(`${series} 16`);
      expect(await shown(4)).toBe(`${series} 16`);
    });
  });

  test('are served whatever an agent says of its tunnels', async () => {
    const { metrics, lines } = setup();
    const unnamed = { labels: { agent: 'a', tunnel: '' }, value: Number.MAX_VALUE };
    const many = Array.from({ length: 101 }, (_, i) => ({ labels: { agent: 'b', tunnel: `${i}` }, value: 1 }));
    metrics.poll('tunnelConnections', () => [...many, unnamed, unnamed]);
    for (let scrape = 0; scrape < 2; scrape += 1)
      expect(await lines('edge_operator_tunnel_connections_total')).toContain(
        `edge_operator_tunnel_connections_total{agent="other",tunnel="other"} ${Number.MAX_VALUE}`,
      );
    expect(await lines('edge_operator_build_info')).toHaveLength(1);
  });

  test('of 800 accounts that nothing else can be told of are told the worst', async () => {
    const { metrics, lines } = setup();
    for (let index = 0; index < 800; index++) {
      const account = metrics.account(`a/${index}`);
      account.show(() => ({ used: 1, limit: 10, waiting: { change: 1 } }));
      account.onRequest({
        status: index === 799 ? 401 : 200,
        outcome: index === 799 ? 'Unauthorized' : 'ok',
        keyRefused: index === 799,
      });
    }
    const account = 'account="other"';
    expect(await lines('edge_operator_cloud_account_state')).toHaveLength(31 * 3);
    expect(await lines('edge_operator_cloud_account_state')).toContain(
      `edge_operator_cloud_account_state{${account},state="unauthorized"} 1`,
    );
    expect(await lines('edge_operator_cloud_rate_limit_used_requests')).toContain(
      `edge_operator_cloud_rate_limit_used_requests{${account}} 770`,
    );
    const { body } = await metrics.scrape();
    expect(body.split('\n').length).toBeLessThan(600);
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

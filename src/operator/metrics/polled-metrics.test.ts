import { describe, expect, test } from '@jest/globals';
import { setup } from './scrape.fixture.ts';

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

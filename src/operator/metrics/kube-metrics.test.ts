import { describe, expect, test } from '@jest/globals';
import { createMetrics } from './metrics.ts';
import { setup } from './scrape.fixture.ts';

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

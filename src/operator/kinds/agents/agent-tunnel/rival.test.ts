import { beforeEach, expect, test } from '@jest/globals';
import { withoutBulk } from '../../../reconcile/resource/bulk.ts';
import { TunnelWorld } from './tunnel.fixture.ts';

let here: TunnelWorld;
beforeEach(() => {
  here = new TunnelWorld();
  here.starts();
});

const options = { text: 'x'.repeat(60_000) };

test('what is kept of a spec that is too large is no more than one that is kept whole may have', () => {
  const most = { agentRef: { name: 'a'.repeat(253) }, proto: '\u4e00'.repeat(63), addr: 'a'.repeat(1_021) };
  here.edit({ ...most, tunnelName: '\u4e00'.repeat(256), inspect: true, options });
  const { spec } = withoutBulk(here.object);
  expect(spec).toEqual({ ...here.object.spec, options: {} });
  expect(Buffer.byteLength(JSON.stringify(spec))).toBeLessThan(6 * 1_024);
});

test('a rival is found by the longest name, also where its spec is too large to be kept whole', async () => {
  here.edit({ tunnelName: '\u4e00'.repeat(256), options });
  const older = { ...here.object.metadata, name: 'older', uid: 'o', creationTimestamp: '2020-01-01T00:00:00Z' };
  const mine = { ...here.object.metadata, creationTimestamp: '2020-01-02T00:00:00Z' };
  here.peers = [withoutBulk({ ...here.object, metadata: older })];
  here.object = { ...here.object, metadata: mine };
  const message = expect.stringMatching(/^the tunnel is managed by AgentTunnel ns\/older/);
  expect(await here.ensure()).toMatchObject({ reason: 'Conflict', message });
  expect(here.running).toBeUndefined();
});

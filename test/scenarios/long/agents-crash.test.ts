import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { annotation } from '../../../src/operator/reconcile/resource/annotations.ts';
import { kubeconfigThrough, type ProxiedRequest, type Side, startGateProxy } from '../../support/gate-proxy.ts';
import { LocalAgent } from '../../support/local-agent.ts';
import { startOperatorProcess } from '../../support/operator-process.ts';
import { claimPorts } from '../../support/ports.ts';
import { startWorld, type World } from '../../support/world.ts';

/*
 * The operator is killed with SIGKILL around the start of a tunnel, and started again: exactly one tunnel must come of
 * it, and go with its resource. All cases run side by side, each with an operator, an agent and a namespace of its own.
 * And an operator that has only some of the resources.
 */

interface Step {
  readonly name: string;
  readonly at: 'kubernetes' | 'agent';
  readonly side: Side;
  readonly matches: (request: ProxiedRequest) => boolean;
}

const isRecord = ({ method, body }: ProxiedRequest) => method === 'PATCH' && body.includes(annotation.startedTunnel);
const isStatus = ({ method, body }: ProxiedRequest) => method === 'PATCH' && body.includes('"publicURL"');
const isPost = ({ method }: ProxiedRequest) => method === 'POST';

const steps: readonly Step[] = [
  { name: 'after the start is recorded', at: 'kubernetes', side: 'after', matches: isRecord },
  { name: 'after the POST', at: 'agent', side: 'after', matches: isPost },
  { name: 'before the status is written', at: 'kubernetes', side: 'before', matches: isStatus },
];

const spec = { agentRef: { name: 'edge' }, proto: 'http', addr: '8080' };

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

test.concurrent.each(steps)(
  'killed $name: exactly one tunnel',
  async (step) => {
    const { shown, running, left } = await killAt(step);
    expect(running).toEqual([shown]);
    expect(left).toEqual([]);
  },
  60_000,
);

interface Result {
  /** The public URL in the status. */
  readonly shown: unknown;
  readonly running: readonly string[];
  /** What still runs when the resource is gone. */
  readonly left: readonly string[];
}

async function killAt({ at, side, matches }: Step): Promise<Result> {
  const {
    ports: [port = 0],
    release,
  } = await claimPorts(1);
  const agent = new LocalAgent(port);
  const [namespace, kube, gate] = await Promise.all([
    world.namespace(),
    startGateProxy(world.kube.url),
    startGateProxy(agent.url),
    agent.start(),
  ]);
  const config = kubeconfigThrough(kube, world.kube.kubeconfig);
  const { host } = new URL(gate.url);
  const args = ['--watch-namespaces', namespace, '--resync-interval', '1s', '--allowed-agent-hosts', host];
  const start = () =>
    startOperatorProcess({ kubeconfig: config.path, apiURL: world.cloud.url, apiKey: world.cloud.apiKey, args });
  const held = (at === 'kubernetes' ? kube : gate).hold(side, matches);
  const doomed = start();
  await world.apply('Agent', namespace, 'edge', { url: gate.url });
  const tunnel = await world.apply('AgentTunnel', namespace, 'web', spec);
  await held;
  await doomed.stop('SIGKILL');
  const heir = start();
  const running = async () => (await agent.tunnels()).map(({ public_url }) => public_url);
  try {
    const shown = (await world.reason(tunnel, 'Available', 30_000)).status?.publicURL;
    const during = await running();
    await world.delete(tunnel);
    await world.gone(tunnel);
    return { shown, running: during, left: await running() };
  } finally {
    await heir.stop('SIGKILL');
    await Promise.all([kube.close(), gate.close(), agent.stop()]);
    await release();
    config.remove();
  }
}

import { LocalAgent } from '../../support/local-agent.ts';
import { claimPorts } from '../../support/ports.ts';
import type { Incident } from '../incident.ts';

export const agents: readonly Incident[] = [
  {
    what: 'an agent with a tunnel ends',
    alert: 'EdgeOperatorAgentUnreachable',
    arrange: async (release) => {
      const { world, namespace } = release;
      const { ports, release: giveBack } = await claimPorts(1);
      const agent = new LocalAgent(ports[0] ?? 0);
      release.defer(() => agent.stop());
      release.defer(giveBack);
      await agent.start();
      await release.start(['--allowed-agent-hosts', new URL(agent.url).host]);
      const spec = { agentRef: { name: 'agent' }, proto: 'http', addr: '1' };
      await world.reason(await world.apply('Agent', namespace, 'agent', { url: agent.url }), 'Available');
      await world.reason(await world.apply('AgentTunnel', namespace, 'tunnel', spec), 'Available');
      return async () => {
        await agent.stop();
        return () => agent.start();
      };
    },
  },
];

/** An agent with inspection on and one tunnel of each proto: `agent-process <http port> [tcp port]`. */
import { startAgent } from '../../../src/agent/agent.ts';
import { readConfig } from '../../../src/agent/config.ts';

const [, , http, tcp] = process.argv;
const tunnels = {
  web: { proto: 'http', addr: http },
  ...(tcp === undefined ? {} : { db: { proto: 'tcp', addr: tcp } }),
};
const agent = await startAgent(readConfig({ web_addr: '127.0.0.1:0', tunnels }), { version: 'bench' });
process.send?.({ port: Number(new URL(agent.edgeURL).port), url: agent.url });
process.on('message', () => {
  globalThis.gc?.();
  process.send?.({ memory: process.memoryUsage(), cpu: process.cpuUsage() });
});

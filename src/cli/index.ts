import type { Command } from 'commander';

/** What a command needs is loaded when it is asked for: some take hundreds of milliseconds. */
const commands: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ['demo', async () => (await import('./demo/index.ts')).demoCommand()],
  ['run', async () => (await import('./run.ts')).runCommand()],
  ['agent', async () => (await import('./agent/index.ts')).agentCommand()],
  ['tunnels', async () => (await import('./agent/tunnels.ts')).tunnelsCommand()],
  ['requests', async () => (await import('./agent/requests.ts')).requestsCommand()],
  ['replay', async () => (await import('./agent/replay.ts')).replayCommand()],
  ['clear', async () => (await import('./agent/clear.ts')).clearCommand()],
  ['status', async () => (await import('./agent/status.ts')).statusCommand()],
  ['cloud', async () => (await import('./cloud.ts')).cloudCommand()],
  ['kube', async () => (await import('./kube.ts')).kubeCommand()],
  ['crds', async () => (await import('./crds.ts')).crdsCommand()],
]);

/** The command of this name, or all of them when there is none. */
export function loadCommands(name: string): Promise<readonly Command[]> {
  const load = commands.get(name);
  return Promise.all(load === undefined ? [...commands.values()].map((each) => each()) : [load()]);
}

import type { Command } from 'commander';

/** What a command needs is loaded when it is asked for: some take hundreds of milliseconds. */
export type Commands = ReadonlyMap<string, () => Promise<Command>>;

/** The commands of the production image, which holds neither the sources of the others nor what those need. */
export const productionCommands: Commands = new Map([
  ['run', async () => (await import('./run.ts')).runCommand()],
  ['agent', async () => (await import('./agent/index.ts')).agentCommand()],
  ['doctor', async () => (await import('./doctor.ts')).doctorCommand()],
  ['crds', async () => (await import('./crds.ts')).crdsCommand()],
]);

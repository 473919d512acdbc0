import { type Commands, productionCommands } from './production.ts';

/** Every command; those that production has no use for are for trying and tests. */
export const commands: Commands = new Map([
  ...productionCommands,
  ['cloud', async () => (await import('./cloud.ts')).cloudCommand()],
  ['kube', async () => (await import('./kube.ts')).kubeCommand()],
  ['demo', async () => (await import('./demo/index.ts')).demoCommand()],
]);

import { productionCommands } from './cli/production.ts';
import { start } from './cli/program.ts';

/* What the production image starts for everything but `run`, of which it knows what help says. */

const elsewhere = ['cloud', 'kube', 'demo'].map(
  (name) => [name, `it is not in this image; from a checkout there is: npm start -- ${name}`] as const,
);
await start({ dir: import.meta.dirname, commands: productionCommands, elsewhere: new Map(elsewhere) });

import { start } from './cli/program.ts';
import { runCommand } from './cli/run.ts';

/* What the production image starts for `run`. */

await start({ dir: import.meta.dirname, commands: new Map([['run', async () => runCommand()]]) });

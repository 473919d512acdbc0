import { join } from 'node:path';

const run = process.env.TEST_RUN;

/** What starts the product: as it is shipped in a run of the tests, otherwise the sources. */
export const main = run === undefined ? join(import.meta.dirname, '../../src/main.ts') : join(run, 'dist/main.js');

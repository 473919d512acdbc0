/* A process that logs as many lines as it is told to, as `run` and `agent` do, and says how it is. */
import { createLogger } from '../../src/common/logger.ts';

const log = createLogger({ level: 'info', format: 'json' });
const filling = 'x'.repeat(900);
let at = 0;

process.on('message', (lines: number) => {
  for (let line = 0; line < lines; line += 1) {
    at += 1;
    log.info('line', { at, filling });
  }
  process.send?.({ rss: process.memoryUsage.rss() });
});

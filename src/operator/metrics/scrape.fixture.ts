import { createMetrics } from './metrics.ts';

/** All metrics of a process, and the sample lines of one. */
export function setup() {
  const metrics = createMetrics({ version: '1.2.3', now: () => 0 });
  const lines = async (name: string) => {
    const { body } = await metrics.scrape();
    return body.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  };
  return { metrics, lines };
}

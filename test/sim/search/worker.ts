/** A worker process of a pool: does the jobs it is sent with the `work` of the module that it is given. */
import type { Order, Reply } from './pool.ts';

const { work } = (await import(process.argv[2] ?? '')) as { readonly work: (job: unknown) => Promise<unknown> };

process.on('message', async ({ job }: Order<unknown>) => {
  let reply: Reply<unknown>;
  try {
    reply = { result: await work(job) };
  } catch (error) {
    reply = { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  process.send?.(reply);
});

// Whoever waits for results is gone.
process.on('disconnect', () => process.exit());

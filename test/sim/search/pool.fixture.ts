/** What a pool can meet with. */
export async function work(job: unknown): Promise<unknown> {
  if (job === 'fail') throw new Error('it does not work');
  if (job === 'die') process.exit(3);
  if (job === 'hang') await new Promise(() => setInterval(() => {}, 1_000));
  return { job, process: process.pid };
}

import { readdir, readFile, rm } from 'node:fs/promises';

/** After the last test, whether it failed or not: no process and no file of the run stays. */
export default async function tearDown(): Promise<void> {
  const folder = String(process.env.TEST_RUN);
  for (const pid of await running(folder)) process.kill(pid, 'SIGKILL');
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Processes whose command line names the folder, where the system shows them. */
async function running(folder: string): Promise<readonly number[]> {
  const pids = (await readdir('/proc').catch(() => [])).map(Number).filter(Number.isInteger);
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return pids.filter((pid, index) => pid !== process.pid && lines[index]?.includes(folder));
}

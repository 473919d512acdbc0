/** Asks for a path again and again over kept-alive connections, and measures. */
import { Pool } from 'undici';

export interface Load {
  readonly port: number;
  readonly path: string;
  readonly requests: number;
  readonly connections: number;
}

/** Milliseconds. */
export interface Measured {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

async function measure({ port, path, requests, connections }: Load): Promise<Measured> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections });
  const times: number[] = [];
  let left = requests;
  const work = async () => {
    while (left > 0) {
      left -= 1;
      const start = performance.now();
      const { statusCode, body } = await pool.request({ path, method: 'GET', headers: { host: 'web.localhost' } });
      await body.dump({ limit: Number.POSITIVE_INFINITY });
      if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
      times.push(performance.now() - start);
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: connections }, work));
  const seconds = (performance.now() - start) / 1_000;
  await pool.close();
  times.sort((a, b) => a - b);
  const quantile = (fraction: number) => times[Math.floor(times.length * fraction)] ?? 0;
  return { perSecond: requests / seconds, p50: quantile(0.5), p99: quantile(0.99) };
}

process.on('message', async (load: Load) => process.send?.(await measure(load)));
process.send?.({});

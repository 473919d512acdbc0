import { Session } from 'node:inspector/promises';
import { Worker } from 'node:worker_threads';
import type { Story } from '../core/story.ts';
import { tell } from './tell.ts';

/** What the same story has to give, whatever else the process does. */
export interface Hashes {
  readonly alone: string;
  readonly profiled: string;
  readonly besideBusyThread: string;
}

export async function hashesOf(story: Story): Promise<Hashes> {
  const hash = async () => (await tell(story)).hash;
  return {
    alone: await hash(),
    profiled: await profiled(hash),
    besideBusyThread: await besideBusyThread(hash),
  };
}

export const areEqual = (hashes: Hashes): boolean => new Set(Object.values(hashes)).size === 1;

/** The profiler interrupts it wherever it is. */
async function profiled<T>(what: () => Promise<T>): Promise<T> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: 1_000 });
    await session.post('Profiler.start');
    return await what();
  } finally {
    await session.post('Profiler.stop');
    session.disconnect();
  }
}

const busy = `
  const { parentPort } = require('node:worker_threads');
  const { scryptSync } = require('node:crypto');
  const work = () => { scryptSync('a', 'b', 32); parentPort.postMessage(0); setImmediate(work); };
  work();
`;

/** Its messages come at moments of their own. */
async function besideBusyThread<T>(what: () => Promise<T>): Promise<T> {
  const thread = new Worker(busy, { eval: true });
  thread.on('message', () => {});
  try {
    return await what();
  } finally {
    await thread.terminate();
  }
}

import { beforeEach, expect, test } from '@jest/globals';
import { silentLog } from '../../common/log.ts';
import { definitions } from '../kinds/index.ts';
import type { KubeConnection } from '../kube/connection.ts';
import { tellOfDefinitions } from './at-start.ts';
import { installDefinitions as cure } from './cure.ts';

let told: unknown[] = [];
let slept = 0;
beforeEach(() => {
  [told, slept] = [[], 0];
});

/** Statuses of the answers, which have no kind, one after another; then it is stopped instead of an answer. */
async function begin(statuses: readonly number[], stop = new AbortController()) {
  const left = [...statuses];
  const connection = {
    request: async () => {
      const status = left.shift() ?? 0;
      if (status === 0) return new Promise(() => stop.abort());
      return { status, text: async () => '{}' };
    },
  } as unknown as KubeConnection;
  const sleep = async (ms: number) => {
    slept += ms;
  };
  const log = { ...silentLog, warn: (...line: unknown[]) => void told.push(line) };
  await tellOfDefinitions(connection, { log, monotonic: { sleep } as never }, stop.signal);
  return left.length;
}

test('what is wrong is told once, with its cure, and not before it had time to be published', async () => {
  expect(await begin([200, 200])).toBe(1);
  expect(told).toEqual([[`the cluster lacks all ${definitions.length} kinds of edge-operator.dev`, { cure }]]);
  expect(slept).toBe(10_000);
});

test.each([403, 500])('nothing is told of definitions that may not be read (%s)', async (status) => {
  await begin([status]);
  expect(told).toEqual([]);
});

test('who stops does not wait for the answer', async () => {
  await begin([]);
  expect(told).toEqual([]);
});

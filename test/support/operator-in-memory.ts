import { Writable } from 'node:stream';
import { createLogger } from '../../src/common/logger.ts';
import { runOperator } from '../../src/operator/operator.ts';
import { parseSettings } from '../../src/operator/settings.ts';
import { testRuntime } from './in-memory.ts';
import type { OperatorOptions, OperatorProcess } from './operator-process.ts';

/** An operator in this process, which listens nowhere; no signal but the end reaches it. */
export function startOperatorInMemory({ kubeconfig, apiURL, apiKey, args = [] }: OperatorOptions): OperatorProcess {
  const settings = parseSettings({
    kubeconfig,
    apiUrl: apiURL,
    metricsAddr: '0',
    healthAddr: '0',
    mirrorInterval: '0',
    createSettle: '4s',
    ...optionsOf(args),
  });
  let output = '';
  const stream = new Writable({
    write: (chunk, _, done) => {
      output += chunk;
      done();
    },
  });
  const now = () => new Date(testRuntime.clock.now());
  const log = createLogger({ level: settings.logLevel, format: settings.logFormat, stream, now });
  const stop = new AbortController();
  const exited = runOperator({ settings, apiKey, log, runtime: testRuntime }, stop.signal).then(() => 0);
  // Whoever stops it is told.
  exited.catch(() => {});
  return {
    logs: () => output,
    metrics: async () => '',
    url: () => inProcessOnly('an address'),
    ready: () => inProcessOnly('an address'),
    writeKey: () => inProcessOnly('a file with its key'),
    signal: () => inProcessOnly('signals'),
    exited,
    stop: () => {
      stop.abort();
      return exited;
    },
  };
}

/** `--a-b c` as `aB: c`. */
function optionsOf(args: readonly string[]): Readonly<Record<string, string>> {
  const entries = args.flatMap((arg, index) => {
    const name = /^--(.+)$/.exec(arg)?.[1]?.replace(/-./g, (part) => part.slice(1).toUpperCase());
    return name === undefined ? [] : [[name, args[index + 1] ?? ''] as const];
  });
  return Object.fromEntries(entries);
}

function inProcessOnly(what: string): never {
  throw new Error(`an operator in memory has no ${what}`);
}

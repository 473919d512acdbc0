import type { Listener } from '../../src/common/dated.ts';
import { type Runtime, systemRuntime } from '../../src/common/runtime.ts';
import { MemoryDispatcher } from './memory-dispatcher.ts';

declare global {
  /** Set for the runs whose servers are in this process, without sockets: see jest.config.js. */
  var inMemory: boolean | undefined;
}

export const isInMemory = globalThis.inMemory === true;

const listeners = new Map<string, Listener>();
let names = 0;

/** What the world of a test lives in: the system's, or with what carries requests in memory. */
export const testRuntime: Runtime = isInMemory ? inMemoryRuntime() : systemRuntime;

function inMemoryRuntime(): Runtime {
  return { ...systemRuntime, dispatcher: new MemoryDispatcher(listeners, systemRuntime.monotonic) };
}

/** Makes the listener known under an address of its own, in this process only. */
export function serveInMemory(listener: Listener): { readonly url: string; leave(): void } {
  names += 1;
  const url = `http://server-${names}.test`;
  listeners.set(url, listener);
  return { url, leave: () => void listeners.delete(url) };
}

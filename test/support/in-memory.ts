import type { Listener } from '../../src/common/dated.ts';
import { type Runtime, systemRuntime } from '../../src/common/runtime.ts';
import { MemoryDispatcher } from './memory-dispatcher.ts';
import { quickRuntime } from './quick-runtime.ts';

declare global {
  /** Set for the runs whose servers are in this process, without sockets: see jest.config.js. */
  var inMemory: boolean | undefined;
}

export const isInMemory = globalThis.inMemory === true;

const listeners = new Map<string, Listener>();
let names = 0;

/** What the world of a test lives in: the system's, or one in memory, whose time runs fast. */
export const testRuntime: Runtime = isInMemory ? inMemoryRuntime() : systemRuntime;

function inMemoryRuntime(): Runtime {
  const quick = quickRuntime(2);
  return { ...quick, dispatcher: new MemoryDispatcher(listeners, quick.monotonic) };
}

/** Makes the listener known under an address of its own, in this process only. */
export function serveInMemory(listener: Listener): { readonly url: string; leave(): void } {
  names += 1;
  const url = `http://server-${names}.test`;
  listeners.set(url, listener);
  return { url, leave: () => void listeners.delete(url) };
}

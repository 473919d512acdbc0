import { type ServerRuntime, systemRuntime } from '../../../common/runtime.ts';
import { alarm } from './alarm.ts';

/** Calls `run` when what is going on now is done; returns the function that prevents it. */
export type Soon = (run: () => void) => () => void;

/** No timer of a process is as soon as the end of a turn of its event loop, and a simulator knows of no turns. */
export function soonOf(runtime: ServerRuntime): Soon {
  return runtime === systemRuntime ? endOfTurn : (run) => alarm(runtime.monotonic, 0, run);
}

function endOfTurn(run: () => void): () => void {
  const immediate = setImmediate(run);
  return () => clearImmediate(immediate);
}

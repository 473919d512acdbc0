import type { Log } from '../../common/log.ts';
import type { Runtime } from '../../common/runtime.ts';
import { unlessAborted } from '../../common/unless-aborted.ts';
import type { KubeConnection } from '../kube/connection.ts';
import { look } from './check.ts';

/** What was just installed is published some seconds later; and then the first resources are done, which this would delay. */
const afterMs = 10_000;

/**
 * Tells, once, what is wrong with the definitions of a cluster that an operator has begun to work in. Says nothing where that
 * cannot be found out, and never rejects.
 */
export async function tellOfDefinitions(
  connection: KubeConnection,
  { log, monotonic }: Pick<Runtime, 'monotonic'> & { readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  try {
    await monotonic.sleep(afterMs, signal);
    const { definitionsCheck } = await import('./definitions.ts');
    const results = await unlessAborted(look([definitionsCheck(connection)]), signal);
    for (const { problem, cure } of results.flatMap(({ findings }) => findings)) log.warn(problem, { cure });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

import type { Log } from '../../common/log.ts';
import type { Runtime } from '../../common/runtime.ts';
import { unlessAborted } from '../../common/unless-aborted.ts';
import type { KubeConnection } from '../kube/connection.ts';
import { look } from './check.ts';
import { definitionsCheck } from './definitions.ts';

/** What was just installed is published some seconds later. */
const publishedMs = 10_000;

/**
 * Tells, once, what is wrong with the definitions of a cluster that an operator begins to work in. Says nothing where that cannot be
 * found out, and never rejects.
 */
export async function tellOfDefinitions(
  connection: KubeConnection,
  { log, monotonic }: Pick<Runtime, 'monotonic'> & { readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  const findings = async () => {
    const results = await unlessAborted(look([definitionsCheck(connection)]), signal);
    return results.flatMap((result) => result.findings);
  };
  try {
    if ((await findings()).length === 0) return;
    await monotonic.sleep(publishedMs, signal);
    for (const { problem, cure } of await findings()) log.warn(problem, { cure });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

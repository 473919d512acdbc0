import type { Facts } from '../resource/memory.ts';
import { type Report, type Retry, report } from '../status/outcome.ts';

type Remembered = Pick<Facts, 'refusedCreate'>;

/**
 * Who refuses a create in other words than the service's may do so when it was carried out: that is found out soon. Who does so
 * again, when nothing was found of the first, refuses what is asked for.
 */
export function ofUnknownFate(facts: Remembered, failure: Report, content: string): Report {
  const { reason, message } = failure;
  const isAgain = facts.refusedCreate?.content === content;
  delete facts.refusedCreate;
  if (reason !== 'Rejected') return failure;
  facts.refusedCreate = { content, message, isAgain };
  const unsure = { ...failure, ...report('Unreachable', message) };
  return isAgain ? { ...unsure, ...whileSought(message, unsure.retry) } : unsure;
}

/** Of what is looked for all the same, if it is still asked for; undefined: it was not refused so. */
export function refusalOf({ refusedCreate }: Remembered, content: unknown): string | undefined {
  return refusedCreate?.isAgain === true && refusedCreate.content === content ? refusedCreate.message : undefined;
}

export function whileSought(message: string, retry: Retry): Report {
  return report('Rejected', message, { retry, pauseMs: 0 });
}

import type { ReconcileResult } from '../../controller/controller.ts';
import { annotation } from '../resource/annotations.ts';
import { conditionOf, isDeleting, isOlder, keyOf, type ManagedObject } from '../resource/resource.ts';
import { type Report, report } from '../status/outcome.ts';
import { conclude, type StatusOptions } from '../status/status.ts';
import type { Installation } from './installation.ts';

/* What the condition says of a resource that another installation manages. */

const start = 'this resource is managed by another installation';

export function foreignMessage(installation: string, message: string): string {
  return `${start} of the operator, ${installation}: ${message}`;
}

/** Something of the kind is all that was said of it last. */
export function isSaidForeign(object: ManagedObject): boolean {
  return conditionOf(object, 'Ready')?.message.startsWith(start) === true;
}

/** It is left alone; of a deleted one it says what each way out does to what it made. */
export function conflictWith(installation: string, object: ManagedObject): Report {
  if (isDeleting(object)) {
    return report(
      'Conflict',
      `it goes when that removes what it made; to let it go and leave that as it is, set the annotation ` +
        `${annotation.forceOrphan} to "true"; the annotation ${annotation.takeOver}, set to ${installation}, would have this ` +
        'installation take it over, and then DELETE what it made',
    );
  }
  return report(
    'Conflict',
    'let one of the two watch its namespace, or have this one take it over: set the annotation ' +
      `${annotation.takeOver} to ${installation}, or start the operator with --take-over for all`,
  );
}

/** Says so where that one does not say otherwise: two who both did would do so for ever. */
export async function concludeForeign(
  options: StatusOptions & { readonly installation: Pick<Installation, 'ask' | 'unsaid'> },
  object: ManagedObject,
  installation: string,
  said: Report,
): Promise<ReconcileResult> {
  const latest = options.cache.get(keyOf(object));
  // It was read afresh, and nothing of it is written before the cache has it too: what is not said now is put right by nobody.
  if (latest !== undefined && isOlder(latest, object)) return { kind: 'backoff' };
  const say = options.installation.ask(installation, object);
  if (say.kind === 'never') return { kind: 'done' };
  if (say.kind === 'after') return { ...say, priority: 'resync' };
  const message = foreignMessage(installation, said.message);
  return conclude(options, keyOf(object), object, { ...said, message, isForeign: true }).catch((error: unknown) => {
    options.installation.unsaid(installation, object);
    throw error;
  });
}

import type { Act, Deed, ObjectRef } from '../core/story.ts';
import { annotate, note, start } from './acts.ts';
import type { Scene } from './scene.ts';

const isWrite = (act: Act): boolean => ['apply', 'replace', 'patch', 'copy', 'delete'].includes(act.do);

/** What people do again after Kubernetes lost it: all since the backup, as it was done then, from `at` on. */
export function doneAgain(acts: readonly Act[], since: number, at: number): readonly Act[] {
  return acts.filter((act) => isWrite(act) && act.at >= since).map((act) => ({ ...act, at: at + act.at - since }));
}

/** Whatever order people have not made themselves by then. */
export function ending(acts: readonly Act[], scene: Scene, at: number): readonly Act[] {
  return [...operatorsBack(acts, scene, at), ...unpaused(acts, at)];
}

/** Of each installation the last thing that was done to it is that it was started with its own settings. */
function operatorsBack(acts: readonly Act[], { installations }: Scene, at: number): readonly Act[] {
  return installations.flatMap(({ name }) => {
    const last = acts.findLast((act) => 'installation' in act && act.installation === name && act.do !== 'kill');
    const isRight = last?.do === 'start' && last.settings === undefined && last.apiKey === undefined;
    return isRight || last?.do === 'freeze' ? [] : [start(at, name)];
  });
}

function unpaused(acts: readonly Act[], at: number): readonly Act[] {
  const paused = new Map<string, ObjectRef>();
  for (const act of acts.toSorted((a, b) => a.at - b.at)) {
    const ref = refIn(act);
    if (ref === undefined) continue;
    const said = act.do === 'copy' ? paused.has(keyOf(act.from)) : pausedBy(act);
    if (said === true) paused.set(keyOf(ref), ref);
    if (said === false) paused.delete(keyOf(ref));
  }
  return [...paused.values()].map((of) => annotate(at, of, { [note.paused]: null }));
}

const keyOf = ({ kind, namespace, name }: ObjectRef): string => `${kind}/${namespace}/${name}`;

/** Of which object it writes annotations. */
function refIn(act: Deed): ObjectRef | undefined {
  if (act.do === 'patch') return act.ref;
  if (act.do === 'copy') return { kind: act.from.kind, ...act.to };
  return act.do === 'apply' || act.do === 'replace' ? { kind: act.object.kind, ...act.object.metadata } : undefined;
}

/** What an act says of pausing, if anything. */
function pausedBy(act: Deed): boolean | undefined {
  const notes =
    act.do === 'patch' ? annotationsIn(act.patch) : 'object' in act ? (act.object.metadata.annotations ?? {}) : {};
  return note.paused in notes ? notes[note.paused] === 'true' : undefined;
}

function annotationsIn(patch: object): Readonly<Record<string, unknown>> {
  const { metadata } = patch as { readonly metadata?: { readonly annotations?: Readonly<Record<string, unknown>> } };
  return metadata?.annotations ?? {};
}

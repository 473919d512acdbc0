import type { Act, Deed, ObjectRef } from '../core/story.ts';
import { note, start } from './acts.ts';
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
  const last = new Map<string, { readonly ref: ObjectRef; readonly paused: boolean }>();
  for (const act of acts) {
    const said = pausedBy(act);
    if (said !== undefined) last.set(JSON.stringify(said.ref), said);
  }
  return [...last.values()].flatMap(({ ref, paused }) =>
    paused ? [{ at, do: 'patch', ref, patch: { metadata: { annotations: { [note.paused]: null } } } } as const] : [],
  );
}

/** What an act says of pausing, if anything. */
function pausedBy(act: Deed): { readonly ref: ObjectRef; readonly paused: boolean } | undefined {
  if (act.do === 'patch') return fromNotes(act.ref, annotationsIn(act.patch));
  if (act.do !== 'apply' && act.do !== 'replace') return undefined;
  const { kind, metadata } = act.object;
  const ref = {
    kind,
    name: metadata.name,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
  };
  return fromNotes(ref, metadata.annotations ?? {});
}

function fromNotes(ref: ObjectRef, notes: Readonly<Record<string, unknown>>) {
  return note.paused in notes ? { ref, paused: notes[note.paused] === 'true' } : undefined;
}

function annotationsIn(patch: object): Readonly<Record<string, unknown>> {
  const { metadata } = patch as { readonly metadata?: { readonly annotations?: Readonly<Record<string, unknown>> } };
  return metadata?.annotations ?? {};
}

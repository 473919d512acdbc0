import type { Act, Manifest } from '../../core/story.ts';
import type { Attempts } from './attempts.ts';

/** Fields of specs and metadata, and options of troubles, that do not matter. */
export async function plainerManifests(attempts: Attempts): Promise<void> {
  for (const index of attempts.story.acts.keys()) await plainer(attempts, index);
}

async function plainer(attempts: Attempts, index: number): Promise<void> {
  const tried = new Set<string>();
  for (;;) {
    const act = attempts.story.acts[index];
    const path = act === undefined ? undefined : pathsOf(act).find((each) => !tried.has(each.join('.')));
    if (act === undefined || path === undefined || attempts.spent) return;
    tried.add(path.join('.'));
    await attempts.take({ ...attempts.story, acts: attempts.story.acts.with(index, without(act, path)) });
  }
}

type Path = readonly string[];

/** What may be left out, the larger parts before those in them. */
function pathsOf(act: Act): readonly Path[] {
  if (act.do === 'trouble') return under(act.with, ['with']);
  if (act.do !== 'apply' && act.do !== 'replace') return [];
  const { apiVersion, kind, metadata, ...content }: Manifest = act.object;
  const { annotations, labels } = metadata;
  return [
    ...(annotations === undefined ? [] : [['object', 'metadata', 'annotations']]),
    ...under(annotations, ['object', 'metadata', 'annotations']),
    ...(labels === undefined ? [] : [['object', 'metadata', 'labels']]),
    ...Object.entries(content).flatMap(([field, value]) => under(value, ['object', field])),
  ];
}

function under(value: unknown, path: Path): readonly Path[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([key, each]) => [[...path, key], ...under(each, [...path, key])]);
}

function without<T>(value: T, [first, ...rest]: Path): T {
  if (first === undefined) return value;
  const { [first]: inner, ...others } = value as Record<string, unknown>;
  return (rest.length === 0 ? others : { ...(value as object), [first]: without(inner, rest) }) as T;
}

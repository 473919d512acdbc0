import type { Part } from './part.ts';

/** A field of the spec as a PUT takes it, by its name there, and what a GET shows of it in the same form. */
type Field<Body, Observed> = {
  readonly [Name in keyof Body]-?: readonly [name: Name, shown: (observed: Observed) => Body[Name] | null];
}[keyof Body];

/** By their names in the spec. */
export type Fields<Body, Observed> = Readonly<Record<string, Field<Body, Observed>>>;

/** How a part is compared, and filled: what the spec leaves out is not compared, and stays as it is there. */
export function fieldsOf<Body extends object, Observed>(
  fields: Fields<Body, Observed>,
): Required<Pick<Part<never, never, Body, Observed>, 'diff' | 'filled'>> {
  const all = Object.entries(fields);
  return {
    diff: (body, observed) =>
      all.flatMap(([field, [name, shown]]) => (isAsAsked(body[name], shown(observed)) ? [] : [field])),
    filled: (body, observed, leftOut) => {
      const kept = all
        .filter(([field, [name]]) => body[name] === undefined && !leftOut.includes(field))
        .map(([, [name, shown]]) => [name, shown(observed)] as const);
      return { ...body, ...Object.fromEntries(kept.filter(([, value]) => !isNothing(value))) };
    },
  };
}

/** The service shows nothing as it likes, and lists without order. */
function isAsAsked(asked: unknown, shown: unknown): boolean {
  if (!Array.isArray(asked)) return asked === undefined || asked === (shown ?? '');
  return new Set(asked).symmetricDifference(new Set(shown as readonly unknown[])).size === 0;
}

/** What a list of none, or an empty text, would be taken for is not known where it is sent. */
function isNothing(shown: unknown): boolean {
  return shown === undefined || shown === null || (shown as { readonly length?: number }).length === 0;
}

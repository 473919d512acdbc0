import type { Part } from './part.ts';

/** A field as a PUT takes it, by its name there, and what a GET shows of it in the same form, where that is another field. */
type Field<Body, Observed> = {
  readonly [Name in keyof Body]-?:
    | (Name extends keyof Observed ? Name : never)
    | readonly [name: Name, shown: (observed: Observed) => Body[Name]];
}[keyof Body];

/** By their names in the spec. */
export type Fields<Body, Observed> = Readonly<Record<string, Field<Body, Observed>>>;

/** How a part is compared, and filled: what the spec leaves out is not compared, and stays as it is there. */
export function fieldsOf<Body extends object, Observed extends object>(
  fields: Fields<Body, Observed>,
): Required<Pick<Part<never, never, Body, Observed>, 'diff' | 'unset' | 'filled'>> {
  const each = (body: Body, observed: Observed) =>
    Object.entries(fields).map(([field, as]) => {
      const [name, shown] = Array.isArray(as) ? [as[0], as[1](observed)] : [as, observed[as as keyof Observed]];
      return { field, name, asked: body[name as keyof Body] as unknown, shown: shown as unknown };
    });
  return {
    diff: (body, observed) => each(body, observed).flatMap((it) => (isAsAsked(it.asked, it.shown) ? [] : [it.field])),
    unset: (body) =>
      Object.entries(fields).flatMap(([field, as]) => {
        const name = Array.isArray(as) ? as[0] : as;
        return body[name as keyof Body] === undefined ? [field] : [];
      }),
    filled: (body, observed, leftOut) => {
      const isKept = ({ field, asked, shown }: ReturnType<typeof each>[number]) =>
        asked === undefined && !leftOut.includes(field) && !isNothing(shown);
      const kept = each(body, observed).filter(isKept);
      return { ...body, ...Object.fromEntries(kept.map(({ name, shown }) => [name, shown])) };
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
  return (shown as { readonly length?: number } | null | undefined)?.length === 0 || (shown ?? null) === null;
}

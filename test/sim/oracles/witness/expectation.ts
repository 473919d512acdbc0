import { canonical, type Fields, fieldsOf, parsed, textsOf } from './json.ts';

/** What a field of a request may hold, by what a spec says or said lately. */
export interface Expected {
  /** Undefined among them: the field may be absent. */
  readonly oneOf: readonly unknown[];
  /** How it is compared: lists without their order, policies as the JSON that their text holds. */
  readonly as: 'value' | 'set' | 'json';
  /** As the service shows it; default as it was sent. */
  readonly shown?: (content: Fields) => unknown;
}

/** By the field of the request. */
export type Expectation = Readonly<Record<string, Expected>>;

export const value = (...oneOf: readonly unknown[]): Expected => ({ oneOf, as: 'value' });
export const set = (...oneOf: readonly unknown[]): Expected => ({ oneOf, as: 'set' });
export const json = (...oneOf: readonly unknown[]): Expected => ({ oneOf, as: 'json' });

/** The fields of a body that the expectation has not, or that hold something else. */
export function strange(body: Fields, expectation: Expectation): readonly string[] {
  return Object.entries(body)
    .filter(([field, sent]) => !isExpected(sent, expectation[field]))
    .map(([field]) => field);
}

/** The same of a body that may keep what the spec leaves out as it is there. */
export function strangeBesideKept(body: Fields, expectation: Expectation): readonly string[] {
  return strange(body, expectation).filter(
    (field) => expectation[field]?.oneOf.every((each) => each === undefined) !== true,
  );
}

/** The fields that must be there and are not. */
export function missing(body: Fields, expectation: Expectation): readonly string[] {
  return Object.entries(expectation)
    .filter(([field, { oneOf }]) => body[field] === undefined && !oneOf.includes(undefined))
    .map(([field]) => field);
}

/** The fields that a spec sets, and that the service shows otherwise. */
export function different(content: Fields, expectation: Expectation): readonly string[] {
  return Object.entries(expectation)
    .filter(([, { oneOf }]) => !oneOf.every((each) => each === undefined))
    .filter(([field, expected]) => {
      const found = expected.shown === undefined ? content[field] : expected.shown(content);
      return !isExpected(found, expected) && !(expected.oneOf.includes('') && found === undefined);
    })
    .map(([field]) => field);
}

function isExpected(found: unknown, expected: Expected | undefined): boolean {
  if (expected === undefined) return false;
  const { oneOf, as } = expected;
  if (found === undefined) return oneOf.includes(undefined);
  return oneOf.some((each) => each !== undefined && form(each, as) === form(found, as));
}

function form(each: unknown, as: Expected['as']): string {
  if (as === 'set') return canonical([...new Set(textsOf(each))].toSorted());
  if (as === 'json') return canonical(typeof each === 'string' ? (parsed(each) ?? each) : each);
  return canonical(each);
}

/** Ids of references, as the service shows them. */
export const idsIn =
  (field: string) =>
  (content: Fields): readonly string[] =>
    (Array.isArray(content[field]) ? content[field] : []).map((each) => String(fieldsOf(each).id));

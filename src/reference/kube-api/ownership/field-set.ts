import { isMap, type JsonMap } from '../json.ts';

/**
 * A set of field paths, as `fieldsV1` of a managedFields entry: a tree whose edges are path elements (`f:name`,
 * `k:{"type":"Ready"}`, `v:"item"`) and whose nodes say whether the path to them is in the set.
 */
export interface FieldSet {
  readonly member: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

export const emptySet: FieldSet = { member: false, children: new Map() };
export const leaf: FieldSet = { member: true, children: new Map() };

export function isEmpty(set: FieldSet): boolean {
  return !set.member && set.children.size === 0;
}

/** A node without empty children. */
export function node(member: boolean, children: Iterable<readonly [string, FieldSet]>): FieldSet {
  return { member, children: new Map([...children].filter(([, child]) => !isEmpty(child))) };
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  const names = new Set([...a.children.keys(), ...b.children.keys()]);
  return node(
    a.member || b.member,
    children(names, (name) => union(childOf(a, name), childOf(b, name))),
  );
}

/** The paths of `a` that are not in `b`. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return node(
    a.member && !b.member,
    children(a.children.keys(), (name) => difference(childOf(a, name), childOf(b, name))),
  );
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return node(
    a.member && b.member,
    children(a.children.keys(), (name) => intersection(childOf(a, name), childOf(b, name))),
  );
}

export function childOf(set: FieldSet, name: string): FieldSet {
  return set.children.get(name) ?? emptySet;
}

function children(names: Iterable<string>, make: (name: string) => FieldSet): readonly (readonly [string, FieldSet])[] {
  return [...names].map((name) => [name, make(name)] as const);
}

export function toFieldsV1(set: FieldSet): JsonMap {
  const own = set.member && set.children.size > 0 ? { '.': {} } : {};
  const sorted = [...set.children].sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...own, ...Object.fromEntries(sorted.map(([name, child]) => [name, toFieldsV1(child)])) };
}

export function fromFieldsV1(fields: unknown): FieldSet {
  return parse(isMap(fields) ? fields : {}, true);
}

function parse(fields: JsonMap, isRoot: boolean): FieldSet {
  const names = Object.keys(fields).filter((name) => name !== '.');
  const member = '.' in fields || (names.length === 0 && !isRoot);
  return node(
    member,
    children(names, (name) => parse(isMap(fields[name]) ? fields[name] : {}, false)),
  );
}

/** The paths in the set as error messages write them: `.spec.parts[name="x"].value`; nearer ones first. */
export function pathsOf(set: FieldSet, prefix = ''): readonly string[] {
  const sorted = [...set.children].sort(([a], [b]) => (a < b ? -1 : 1));
  const members = sorted.filter(([, child]) => child.member).map(([name]) => prefix + shown(name));
  return [...members, ...sorted.flatMap(([name, child]) => pathsOf(child, prefix + shown(name)))];
}

function shown(element: string): string {
  const text = element.slice(2);
  if (element.startsWith('f:')) return `.${text}`;
  if (element.startsWith('v:')) return `[=${text}]`;
  const keys: JsonMap = JSON.parse(text);
  return `[${Object.entries(keys)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join(',')}]`;
}

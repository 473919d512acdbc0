import type { Chance } from '../../core/random.ts';
import { rulesOf } from './rules.ts';
import { isMap, type Json, type JsonMap, type Schema } from './schemas.ts';
import { matches } from './texts.ts';
import { type Taste, validValue } from './valid.ts';

/** A spec that breaks one rule of its schema. */
export interface Refused {
  /** Where and what: `saml.idpMetadata: one too long`. */
  readonly about: string;
  readonly spec: JsonMap;
}

type Path = readonly (string | number)[];

interface Break {
  readonly path: Path;
  readonly about: string;
  /** undefined: it is left out. */
  readonly value: Json | undefined;
}

/** Every way to break one rule of a spec that keeps them all. */
export function refusedOf(schema: Schema, spec: JsonMap, taste: Taste, chance: Chance): readonly Refused[] {
  return breaksOf(schema, spec, [], taste, chance).map(({ path, about, value }) => ({
    about: `${path.join('.')}: ${about}`,
    spec: withAt(spec, path, value) as JsonMap,
  }));
}

function breaksOf(schema: Schema, value: Json, path: Path, taste: Taste, chance: Chance): readonly Break[] {
  const here = (about: string, broken: Json | undefined): Break => ({ path, about, value: broken });
  const own = [
    ...ofType(schema, here),
    ...ofValue(schema, value, taste, here),
    ...ofRules(schema, value, path, taste, chance),
  ];
  if (Array.isArray(value)) {
    const items = value.slice(0, 1).flatMap((item) => breaksOf(schema.items ?? {}, item, [...path, 0], taste, chance));
    return [...own, ...ofList(schema, value, here), ...items];
  }
  if (!isMap(value)) return own;
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const inner = value[name];
    return inner === undefined ? [] : breaksOf(property, inner, [...path, name], taste, chance);
  });
  const missing = (schema.required ?? [])
    .filter((name) => schema.properties?.[name]?.default === undefined)
    .map((name): Break => ({ path: [...path, name], about: 'missing', value: undefined }));
  return [...own, ...missing, ...fields];
}

type Here = (about: string, broken: Json) => Break;

function ofType({ type = '' }: Schema, here: Here): readonly Break[] {
  const wrong: Readonly<Record<string, Json>> = {
    string: 5,
    integer: 'five',
    boolean: 'yes',
    array: 'one',
    object: 'one',
  };
  return wrong[type] === undefined ? [] : [here('another type', wrong[type])];
}

function ofValue(schema: Schema, value: Json, { longest = 300 }: Taste, here: Here): readonly Break[] {
  const { minimum, maximum, minLength = 0, maxLength, pattern } = schema;
  if (schema.enum !== undefined)
    return [here('not among the values', 'moon'), here('in the wrong case', `${value}`.toUpperCase())].filter(
      (each) => !schema.enum?.includes(each.value),
    );
  if (typeof value === 'number')
    return [
      ...(minimum === undefined ? [] : [here('one too small', minimum - 1)]),
      ...(maximum === undefined ? [] : [here('one too large', maximum + 1)]),
      here('no whole number', value + 0.5),
    ];
  if (typeof value !== 'string') return [];
  const misfits = ['', ' ', 'UPPER case', '-', 'a\u0007b', 'ftp://cloud.sim'].filter(
    (text) => pattern !== undefined && !matches(schema, text),
  );
  return [
    ...(minLength > 0 ? [here('too short', '')] : []),
    ...(maxLength === undefined || maxLength > Math.max(longest, 10_000)
      ? []
      : [here('one too long', 'a'.repeat(maxLength + 1))]),
    ...misfits.map((text) => here('not as the pattern has it', text)),
  ];
}

function ofList(schema: Schema, value: readonly Json[], here: Here): readonly Break[] {
  const { maxItems } = schema;
  const [first] = value;
  const isSet = schema['x-kubernetes-list-type'] === 'set';
  const many = Array.from({ length: (maxItems ?? 0) + 1 }, (_, at) =>
    schema.items?.enum === undefined ? `item-${at}` : 'tcp',
  );
  return [
    ...(isSet && first !== undefined ? [here('one twice', [...value, first])] : []),
    ...(maxItems === undefined ? [] : [here('one too many', many)]),
  ];
}

function ofRules(schema: Schema, value: Json, path: Path, taste: Taste, chance: Chance): readonly Break[] {
  return rulesOf(schema).flatMap((rule): readonly Break[] => {
    const here = (about: string, broken: Json): Break => ({ path, about, value: broken });
    if (rule.is === 'bytes') return [here('too many bytes', '\u00e9'.repeat(rule.most / 2 + 1))];
    if (rule.is === 'never') return rule.texts.map((text) => here('a text that is never right', text));
    if (!isMap(value)) return [];
    if (rule.is === 'exactly one') {
      const both = Object.fromEntries(
        rule.of.map((name) => [
          name,
          value[name] ?? validValue(schema.properties?.[name] ?? {}, { ...taste, known: {} }, chance),
        ]),
      );
      return [here('both of two', { ...value, ...both }), here('none of two', without(value, rule.of))];
    }
    if (rule.is === 'unless')
      return [here('without what it needs', { ...without(value, [rule.needed]), [rule.field]: 'github' })];
    return [];
  });
}

const without = (value: JsonMap, names: readonly string[]): JsonMap =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));

function withAt(value: Json, [first, ...rest]: Path, wanted: Json | undefined): Json | undefined {
  if (first === undefined) return wanted;
  if (Array.isArray(value))
    return value.map((item, at) => (at === first ? (withAt(item, rest, wanted) ?? null) : item));
  if (!isMap(value)) return value;
  const inner = withAt(value[first] ?? null, rest, wanted);
  return inner === undefined ? without(value, [String(first)]) : { ...value, [first]: inner };
}

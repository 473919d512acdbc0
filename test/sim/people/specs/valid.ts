import type { Chance } from '../../core/random.ts';
import { rulesOf } from './rules.ts';
import { isMap, type Json, type JsonMap, type Schema } from './schemas.ts';
import { textOf } from './texts.ts';

/** What a schema cannot know, such as which edges there are, or whether there is any; undefined leaves the field out. */
export type Known = (chance: Chance) => Json | undefined;

/** Which of all values that a schema admits. */
export interface Taste {
  /** Of those that may be left out; default any. */
  readonly fields?: 'any' | 'all' | 'none';
  /** How long texts and lists and how large numbers are; default any. */
  readonly values?: 'any' | 'least' | 'most';
  /** By path: `saml.idpMetadata`; those of items of a list by the path of the list. */
  readonly known?: Readonly<Record<string, Known>>;
  /** No text is longer, whatever its schema admits; default 300. */
  readonly longest?: number;
}

type Mutable = Record<string, Json>;

/** A value that the schema and its rules admit. */
export function validValue(schema: Schema, taste: Taste, chance: Chance, path = ''): Json {
  if (schema.enum !== undefined) return chance.pick(schema.enum as readonly Json[]);
  switch (schema.type) {
    case 'string':
      return textOf(schema, { size: taste.values ?? 'any', longest: taste.longest ?? 300 }, chance);
    case 'integer':
      return integerOf(schema, taste, chance);
    case 'boolean':
      return chance.chance(0.5);
    case 'array':
      return listOf(schema, taste, chance, path);
    case 'object':
      return mapOf(schema, taste, chance, path);
    default:
      throw new Error(`${path}: nobody knows what a ${schema.type} is`);
  }
}

function integerOf({ minimum = -100, maximum = 100 }: Schema, { values = 'any' }: Taste, chance: Chance): number {
  if (values === 'least') return minimum;
  if (values === 'most') return maximum;
  const span = maximum - minimum;
  const draw = chance.next();
  if (draw < 0.1) return minimum;
  if (draw < 0.2) return maximum;
  return minimum + Math.floor(span ** chance.next()) * (span === 0 ? 0 : 1);
}

function listOf(schema: Schema, taste: Taste, chance: Chance, path: string): readonly Json[] {
  const { minItems = 0, maxItems = 4, items = {} } = schema;
  const { values = 'any' } = taste;
  const most = Math.max(minItems, Math.min(maxItems, 8));
  const length =
    values === 'least'
      ? minItems
      : values === 'most'
        ? most
        : chance.int(minItems, Math.max(minItems, Math.min(most, 4)));
  const made = Array.from({ length }, () => validValue(items, taste, chance, path));
  if (schema['x-kubernetes-list-type'] !== 'set') return made;
  return [...new Map(made.map((item) => [JSON.stringify(item), item])).values()];
}

function mapOf(schema: Schema, taste: Taste, chance: Chance, path: string): JsonMap {
  const made: Mutable = {};
  const make = (name: string) => fieldOf(schema, taste, chance, path, name);
  for (const name of Object.keys(schema.properties ?? {})) {
    if (!isKnown(taste, path, name) && !isWanted(schema, taste, chance, name)) continue;
    const value = make(name);
    if (value !== undefined) made[name] = value;
  }
  for (const rule of rulesOf(schema)) {
    if (rule.is === 'exactly one') keepOne(made, rule.of, make, chance);
    if (rule.is === 'unless' && isMissing(made, rule)) {
      const value = make(rule.needed);
      if (value === undefined || chance.chance(0.3))
        made[rule.field] = chance.pick([rule.text, rule.text.toUpperCase()]);
      else made[rule.needed] = value;
    }
  }
  return schema['x-kubernetes-preserve-unknown-fields'] === true ? { ...made, ...unknownFields(taste, chance) } : made;
}

function fieldOf(schema: Schema, taste: Taste, chance: Chance, path: string, name: string): Json | undefined {
  const child = childOf(path, name);
  const known = taste.known?.[child];
  if (known !== undefined) return known(chance);
  return validValue(schema.properties?.[name] ?? {}, taste, chance, child);
}

const childOf = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

/** Who knows it says whether it is there too. */
const isKnown = ({ known = {} }: Taste, path: string, name: string): boolean => childOf(path, name) in known;

function isWanted({ required = [] }: Schema, { fields = 'any' }: Taste, chance: Chance, name: string): boolean {
  if (required.includes(name)) return true;
  return fields === 'any' ? chance.chance(0.5) : fields === 'all';
}

function keepOne(
  made: Mutable,
  names: readonly [string, string],
  make: (name: string) => Json | undefined,
  chance: Chance,
): void {
  const [first, second] = chance.shuffled(names) as readonly [string, string];
  if (first in made) delete made[second];
  if (first in made || second in made) return;
  for (const name of [first, second]) {
    const value = make(name);
    if (value === undefined) continue;
    made[name] = value;
    return;
  }
}

function isMissing(made: Mutable, { field, text, needed }: { field: string; text: string; needed: string }): boolean {
  return !(needed in made) && String(made[field]).toLowerCase() !== text;
}

/** What a schema lets through unseen. */
function unknownFields({ fields = 'any' }: Taste, chance: Chance): JsonMap {
  if (fields === 'none') return {};
  const names = chance.some(['note', 'x-labels', 'Outbound', 'limit'], 0.25);
  return Object.fromEntries(names.map((name) => [name, anything(chance, 2)]));
}

function anything(chance: Chance, depth: number): Json {
  const leaves: readonly Json[] = ['text', '', '1', 0, -1.5, 4_294_967_296, true, false];
  if (depth === 0 || chance.chance(0.5)) return chance.pick(leaves);
  const parts = Array.from({ length: chance.int(0, 3) }, () => anything(chance, depth - 1));
  return chance.chance(0.5) ? parts : Object.fromEntries(parts.map((part, at) => [`key${at}`, part]));
}

/** Fields that can never be changed, as another value has them; undefined where such a value cannot differ at all. */
export function withImmutables(schema: Schema, wanted: JsonMap, current: JsonMap): JsonMap {
  if (rulesOf(schema).some(({ is }) => is === 'immutable')) return current;
  const entries = Object.entries(schema.properties ?? {}).flatMap(([name, property]): [string, Json][] => {
    const fixed = rulesOf(property).some(({ is }) => is === 'immutable');
    const value = fixed ? current[name] : wanted[name];
    const [inner, before] = [wanted[name], current[name]];
    if (!fixed && isMap(inner) && isMap(before)) return [[name, withImmutables(property, inner, before)]];
    return value === undefined ? [] : [[name, value]];
  });
  const unknown = Object.entries(wanted).filter(([name]) => !(name in (schema.properties ?? {})));
  return Object.fromEntries([...entries, ...unknown]);
}

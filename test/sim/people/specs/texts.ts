import type { Chance } from '../../core/random.ts';
import { rulesOf } from './rules.ts';
import type { Schema } from './schemas.ts';

/** What is asked of a text, and how much of it there is to be. */
export interface TextOptions {
  readonly size: 'any' | 'least' | 'most';
  /** No text is longer, whatever its schema admits. */
  readonly longest: number;
}

type Shape = (length: number, chance: Chance) => readonly string[];

const lower = [...'abcdefghijklmnopqrstuvwxyz0123456789'];
const plain = [...lower, ...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
/** What breaks careless code: quotes, escapes, white space, characters of two, three and four bytes. */
const odd = [...plain, ...'"\'\\/<>&%+#?;:,=@$*()[]|~^` -_.', '\u00e9', '\u00df', '\u6f22', '\u2028', '\u{1f642}'];
const lines = [...odd, '\n', '\t'];

const of =
  (characters: readonly string[]): Shape =>
  (length, chance) =>
    Array.from({ length }, () => chance.pick(characters));

const dotted: Shape = (length, chance) =>
  Array.from({ length }, (_, at) => (at % 4 === 2 && at < length - 1 ? chance.pick(['.', '-']) : chance.pick(lower)));

const address: Shape = (length, chance) => [
  ...[...'http://cloud.sim/'].slice(0, length),
  ...of(lower)(Math.max(0, length - 17), chance),
];

const shapes: readonly Shape[] = [of(lines), of(odd), of(plain), of(lower), dotted, address];

/** A text that a schema admits. */
export function textOf(schema: Schema, options: TextOptions, chance: Chance): string {
  const rules = rulesOf(schema);
  const never = rules.flatMap((rule) => (rule.is === 'never' ? rule.texts : []));
  const mostBytes = Math.min(
    Number.POSITIVE_INFINITY,
    ...rules.flatMap((rule) => (rule.is === 'bytes' ? rule.most : [])),
  );
  const fits = (text: string) => matches(schema, text) && !never.includes(text);
  const wanted = lengthOf(schema, options, chance);
  for (let more = 0; more < 32; more += 1) {
    for (const shape of chance.shuffled(shapes)) {
      const text = bounded(shape(wanted + more, chance), mostBytes);
      if (fits(text)) return text;
    }
  }
  throw new Error(`no text of ${wanted} characters or some more fits ${schema.pattern}`);
}

/** Whether the pattern, if any, admits it. */
export function matches({ pattern }: Schema, text: string): boolean {
  return pattern === undefined || new RegExp(pattern, 'u').test(text);
}

function lengthOf({ minLength = 0, maxLength }: Schema, { size, longest }: TextOptions, chance: Chance): number {
  const most = Math.max(minLength, Math.min(maxLength ?? longest, longest));
  if (size === 'least') return minLength;
  if (size === 'most') return most;
  const draw = chance.next();
  if (draw < 0.05) return minLength;
  if (draw < 0.1) return most;
  return chance.int(Math.max(1, minLength), Math.max(minLength, Math.min(most, 40)));
}

function bounded(characters: readonly string[], mostBytes: number): string {
  let [text, bytes] = ['', 0];
  for (const character of characters) {
    bytes += Buffer.byteLength(character);
    if (bytes > mostBytes) break;
    text += character;
  }
  return text;
}

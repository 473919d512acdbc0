import type { Schema } from './schemas.ts';

/** A rule in CEL, as far as one has to know it to keep and to break it. */
export type Rule =
  | { readonly is: 'exactly one'; readonly of: readonly [string, string] }
  /** `needed` has to be there unless `field` is `text`, in any case. */
  | { readonly is: 'unless'; readonly field: string; readonly text: string; readonly needed: string }
  | { readonly is: 'bytes'; readonly most: number }
  | { readonly is: 'never'; readonly texts: readonly string[] }
  /** The pattern says the same, and more. */
  | { readonly is: 'in the pattern' }
  | { readonly is: 'immutable' };

const readers: readonly (readonly [RegExp, (...parts: readonly string[]) => Rule])[] = [
  [/^has\(self\.(\w+)\) != has\(self\.(\w+)\)$/, (a = '', b = '') => ({ is: 'exactly one', of: [a, b] })],
  [
    /^self\.(\w+)\.lowerAscii\(\) == '(\w+)' \|\| has\(self\.(\w+)\)$/,
    (field = '', text = '', needed = '') => ({ is: 'unless', field, text, needed }),
  ],
  [/^size\(bytes\(self\)\) <= (\d+)$/, (most) => ({ is: 'bytes', most: Number(most) })],
  [/^self != '([^']*)' && self != '([^']*)'$/, (...texts) => ({ is: 'never', texts })],
  [/^self\.startsWith\('\w+:\/\/'\) \|\| self\.startsWith\('\w+:\/\/'\)$/, () => ({ is: 'in the pattern' })],
  [/^self == oldSelf$/, () => ({ is: 'immutable' })],
];

/** @throws Error for a rule that nobody has taught it: people who do not know a rule neither keep nor break it */
export function rulesOf(schema: Schema): readonly Rule[] {
  return (schema['x-kubernetes-validations'] ?? []).map(({ rule }) => {
    for (const [pattern, read] of readers) {
      const match = pattern.exec(rule);
      if (match !== null) return read(...match.slice(1));
    }
    throw new Error(`no reader in ${import.meta.filename} knows the rule ${rule}`);
  });
}

export const isImmutable = (schema: Schema): boolean => rulesOf(schema).some(({ is }) => is === 'immutable');

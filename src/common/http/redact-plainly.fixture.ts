import { oneLine } from './text.ts';

/*
 * What is redacted, in as few words as it can be said: every run of every spelling of every secret is looked for in the text.
 * That takes seconds where `redact.ts` takes milliseconds.
 */

const fold = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
const bytes = (text: string) => Buffer.from(text).toString('hex').match(/../g) ?? [];
const uri = (text: string) => encodeURIComponent(text.toWellFormed());
const digits = (text: string, before: number) =>
  Buffer.from('\0'.repeat(before) + text)
    .toString('base64')
    .replace(/=+$/, '')
    .slice(before === 0 ? 0 : before + 1);

const quoted: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => JSON.stringify(text).slice(1, -1),
  (text) => text.replace(/[&<>"']/g, (sign) => `&${{ '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot' }[sign] ?? '#39'};`),
  (text) => text.replaceAll('"', '\\"'),
  uri,
];

const encoded: readonly ((text: string) => string)[] = [
  ...quoted,
  (text) => uri(text).replaceAll('%20', '+'),
  ...['', ':', ' ', '%', '\\x', ', 0x'].map((between) => (text: string) => bytes(text).join(between)),
  (text) => Array.from(text, (each) => `&#${each.codePointAt(0)};`).join(''),
  (text) => Array.from(text, (each) => `&#x${each.codePointAt(0)?.toString(16)};`).join(''),
  (text) =>
    text
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  (text) => (text.length < 8 ? text : [...text].reverse().join('')),
  ...[0, 1, 2].flatMap((before) => {
    const known = (text: string) => (before > 0 && bytes(text).length < 4 ? text : digits(text, before));
    return [known, (text: string) => known(text).replaceAll('+', '-').replaceAll('/', '_')];
  }),
];

/** All that a secret of at most 1 KiB, or a longer one, may be repeated as. */
export function spelledPlainly(secret: string): readonly string[] {
  const plain = [secret, secret.trim(), secret.replace(/\s+/g, ' ').trim()];
  return plain.flatMap((text) => (secret.length > 1_024 ? quoted : encoded).map((spell) => spell(text)));
}

/** With a mark in place of every part of a secret that is not in what was said: 8 characters, 12 of one of more than 1 KiB. */
export function redactPlainly(text: string, secrets: readonly string[], mark: string, said: readonly string[]): string {
  const known = said
    .flatMap((each) => [each, oneLine(each)])
    .flatMap(spelledPlainly)
    .map(fold);
  const hidden = new Set<number>();
  for (const secret of secrets) {
    const length = secret.length > 1_024 ? 12 : 8;
    const spelled = spelledPlainly(secret).map(fold);
    for (let start = 0; start + length <= text.length; start++) {
      const isIn = (each: string) => each.includes(fold(text.slice(start, start + length)));
      if (!spelled.some(isIn) || known.some(isIn)) continue;
      for (let at = start; at < start + length; at++) hidden.add(at);
    }
  }
  return text.replace(/[\s\S]/g, (unit, at) => (!hidden.has(at) ? unit : hidden.has(at - 1) ? '' : mark));
}

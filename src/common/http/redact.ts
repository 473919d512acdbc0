/** Less of a secret than this tells nothing. */
const shortestHead = 8;

/** The text with `mark` in place of every secret, as it is or quoted, and of the beginning of a long one. */
export function redact(text: string, secrets: readonly string[], mark: string): string {
  const spelled = secrets.flatMap(spellings);
  return spelled.reduce((rest, secret) => withoutHead(rest, secret, mark), replaceAll(text, spelled, mark));
}

/** Longest first, so that no value is left in part because it contains another one. */
export function replaceAll(text: string, values: readonly string[], by: string): string {
  const known = values.filter((value) => value !== '').sort((a, b) => b.length - a.length);
  return known.reduce((rest, value) => rest.replaceAll(value, () => by), text);
}

/** A value may be repeated as it is, without the white space around it, or quoted as a JSON string. */
function spellings(secret: string): readonly string[] {
  return [secret, secret.trim()].flatMap((text) => [text, JSON.stringify(text).slice(1, -1)]);
}

/** A long value may be repeated up to some length. */
function withoutHead(text: string, secret: string, mark: string): string {
  if (secret.length < 2 * shortestHead) return text;
  const [before = '', ...after] = text.split(secret.slice(0, shortestHead));
  return before + after.map((rest) => mark + rest.slice(alike(rest, secret.slice(shortestHead)))).join('');
}

/** How many characters two texts have in common from their beginning. */
function alike(a: string, b: string): number {
  const end = a.split('').findIndex((unit, index) => unit !== b[index]);
  return end < 0 ? a.length : end;
}

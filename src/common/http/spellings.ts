/** Of less than 4 bytes the middle of base64 would be a few letters like any others. */
const shortestMiddle = 4;
/** What is shorter is a word backwards: `no` is `on`. */
const shortestReversed = 8;
/** In which 8 digits of base64 surely are. */
const longestEnd = 16;
const longFrom = 1_024;

/**
 * One way in which services repeat a text; what it does not change it gives back. The sign is in any 8 characters in a row of
 * what is spelled so, without case, unless another way spells them too; default nothing is.
 */
type Way = readonly [spell: (text: string) => string, sign?: RegExp];

/** As texts have it: JSON, HTML and XML, URLs. */
const quoted: readonly Way[] = [
  [(text) => JSON.stringify(text).slice(1, -1)],
  [escaped, /[&;]/],
  [(text) => text.replaceAll('"', '\\"'), /\\/],
  [uri],
];

const encoded: readonly Way[] = [
  ...quoted,
  [(text) => uri(text).replaceAll('%20', '+'), /\+/],
  [bytewise(''), /[\da-f]{8}/],
  [bytewise(':'), /:[\da-f]{2}:/],
  [bytewise(' '), / [\da-f]{2} /],
  [bytewise('%'), /%[\da-f]{2}%/],
  [bytewise('\\x'), /\\x/],
  [bytewise(', 0x'), /0x/],
  [entities((code) => `&#${code};`), /#|\d;/],
  [entities((code) => `&#x${code.toString(16)};`), /#|[\da-f];/],
  [unicode, /\\u/],
  [reversed],
  // Also as the middle of something longer: what stands before it shifts the digits, and is not known.
  ...[0, 1, 2].flatMap((before): readonly Way[] => [
    [(text) => base64(text, before, 'base64')],
    [(text) => base64(text, before, 'base64url'), /[-_]/],
  ]),
];

/** Of a long secret more is needed to tell something, and it is looked for in fewer ways: parts of documents are like words. */
export function isLong(secret: string): boolean {
  return secret.length > longFrom;
}

/** As it is, without the white space around it and on one line. */
export function plain(secret: string): ReadonlySet<string> {
  return new Set([secret, secret.trim(), secret.replace(/\s+/g, ' ').trim()]);
}

/**
 * How secrets may be repeated: {@link plain}, and each of these encoded.
 * @param within where 8 characters and more of them will be looked for, without case: what cannot be there is left out
 */
export function* spellings(secrets: readonly string[], within?: string): Iterable<string> {
  const isUseful = ([, sign]: Way) => within === undefined || sign?.test(within) !== false;
  const [ofLong, ofShort] = [quoted.filter(isUseful), encoded.filter(isUseful)];
  for (const secret of secrets) {
    for (const text of plain(secret)) {
      // What is trimmed is a part of the whole, and spelled as that is but for the last digit of base64.
      const part = text !== secret && text === secret.trim() ? endOf(text) : text;
      yield part;
      for (const [spell] of isLong(secret) ? ofLong : ofShort) {
        const spelled = spell(part);
        if (spelled !== part) yield spelled;
      }
    }
  }
}

/** Whole characters: half of one would be another. */
function endOf(text: string): string {
  return text.length > longestEnd ? [...text.slice(-longestEnd)].slice(1).join('') : text;
}

const named: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": '#39' };

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&${named[sign]};`);
}

function uri(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function bytewise(between: string): Way[0] {
  return (text) => marked(Buffer.from(text), 2, between).slice(between.length);
}

function unicode(text: string): string {
  return marked(Buffer.from(text, 'utf16le').swap16(), 4, '\\u');
}

/** In hex, with a mark before every so many digits; a join of an array takes ten times as long. */
function marked(bytes: Buffer, size: number, mark: string): string {
  const digits = bytes.toString('hex');
  const step = mark.length + size;
  const spelled = Buffer.alloc((digits.length / size) * step, mark.padEnd(step));
  for (let from = 0, to = 0; from < digits.length; from++, to++) {
    if (from % size === 0) to += mark.length;
    spelled[to] = digits.charCodeAt(from);
  }
  return spelled.toString();
}

function entities(entity: (code: number) => string): Way[0] {
  return (text) => Array.from(text, (character) => entity(character.codePointAt(0) ?? 0)).join('');
}

function reversed(text: string): string {
  return text.length < shortestReversed ? text : [...text].reverse().join('');
}

/** Without the digits that depend on so many bytes before it. */
function base64(text: string, before: number, digits: 'base64' | 'base64url'): string {
  const bytes = Buffer.from('\0'.repeat(before) + text);
  if (before > 0 && bytes.length - before < shortestMiddle) return text;
  return bytes
    .toString(digits)
    .replace(/=+$/, '')
    .slice(before && before + 1);
}

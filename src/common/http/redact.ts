import { oneLine } from './text.ts';

/** Less of a secret than this tells nothing. Of a long one more is needed: parts of documents are like words. */
const shortestPart = 8;
const shortestPartOfLong = 12;
const longFrom = 1_024;
/** Less than this stands in many a word. */
const shortestInWord = 4;

/**
 * The text with `mark` in place of every secret and of every part of one, from 8 characters on (12, of a secret of more
 * than 1 KiB): as it is, or in the encodings that services repeat things in, by whatever case. Of a shorter secret nothing
 * but the whole is looked for, and of fewer than 4 characters only where it is no part of a word or number. Takes time in
 * proportion to text and secrets: bound both.
 * @param said what its reader himself has said, which the text may repeat: of that nothing is hidden. He knows it, and where
 * a guess of his was hidden he would know that it is part of a secret.
 */
export function redact(text: string, secrets: readonly string[], mark: string, said: readonly string[] = []): string {
  const spelled = secrets.filter((secret) => !isLong(secret)).flatMap(spellings);
  const isSaid = sayingOf(said);
  const short = spelled.filter(
    (spelling) => spelling.length < shortestPart && spelling.trim() !== '' && !isSaid(fold(spelling)),
  );
  const { words = [], others = [] } = Object.groupBy(short, ({ length }) =>
    length < shortestInWord ? 'words' : 'others',
  );
  return replaceWords(replaceAll(withoutParts(text, secrets, mark, isSaid), others, mark), words, mark);
}

/** Whether a run, without case, is in what was said, as it is or as services repeat things. */
function sayingOf(said: readonly string[]): (run: string) => boolean {
  let spelled: string | undefined;
  return (run) => {
    spelled ??= fold(said.flatMap((each) => [each, oneLine(each)].flatMap(spellings)).join('\n'));
    return spelled.includes(run);
  };
}

function replaceWords(text: string, words: readonly string[], by: string): string {
  return words.reduce((rest, word) => {
    const alone = new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(word)}(?![\\p{L}\\p{N}])`, 'gu');
    return rest.replace(alone, () => by);
  }, text);
}

/** Longest first, so that no value is left in part because it contains another one. */
export function replaceAll(text: string, values: readonly string[], by: string): string {
  const known = values.filter((value) => value !== '').sort((a, b) => b.length - a.length);
  return known.reduce((rest, value) => rest.replaceAll(value, () => by), text);
}

/** A text with what looks like a document cut off: markup to the end, and runs that encode something. */
export function withoutDocuments(text: string, mark: string): string {
  return text
    .replace(/(<|&lt;|&#0*60;|&#x0*3c;|%3c|\\u003c)[a-z?!/].*$/isu, mark)
    .replace(/[A-Za-z0-9+/=_%-]{64,}/g, mark);
}

function withoutParts(
  text: string,
  secrets: readonly string[],
  mark: string,
  isSaid: (run: string) => boolean,
): string {
  const folded = fold(text);
  const hidden = new Uint8Array(text.length);
  const [long, short] = [secrets.filter(isLong), secrets.filter((secret) => !isLong(secret))];
  hide(hidden, placesOf(folded, shortestPart), short, isSaid);
  hide(hidden, placesOf(folded, shortestPartOfLong), long, isSaid);
  return replaceHidden(text, hidden, mark);
}

/** Marks every place of the text that has a part of one of the secrets that was not said. */
function hide(
  hidden: Uint8Array,
  { places, length }: Places,
  secrets: readonly string[],
  isSaid: (run: string) => boolean,
): void {
  if (places.size === 0) return;
  for (const spelling of secrets.flatMap(spellings)) {
    const folded = fold(spelling);
    for (let start = 0; start + length <= folded.length; start++) {
      const run = folded.slice(start, start + length);
      const found = places.get(run);
      if (found === undefined) continue;
      if (!isSaid(run)) for (const place of found) hidden.fill(1, place, place + length);
      // Once is enough: a secret may be one run over and over.
      places.delete(run);
    }
  }
}

function isLong(secret: string): boolean {
  return secret.length > longFrom;
}

/** Of a text, where each run of so many characters begins. */
interface Places {
  readonly places: Map<string, readonly number[]>;
  readonly length: number;
}

function placesOf(text: string, length: number): Places {
  const places = new Map<string, number[]>();
  for (let start = 0; start + length <= text.length; start++) {
    const run = text.slice(start, start + length);
    const known = places.get(run);
    if (known === undefined) places.set(run, [start]);
    else known.push(start);
  }
  return { places, length };
}

function replaceHidden(text: string, hidden: Uint8Array, mark: string): string {
  let shown = '';
  for (let index = 0; index < text.length; index++) {
    if (hidden[index] !== 1) shown += text[index];
    else if (hidden[index - 1] !== 1) shown += mark;
  }
  return shown;
}

/** Without case, of one length with the text. */
function fold(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** A value may be repeated as it is, without the white space around it or on one line, or encoded. */
function spellings(secret: string): readonly string[] {
  const plain = [secret, secret.trim(), secret.replace(/\s+/g, ' ').trim()];
  return [...new Set(plain.flatMap((text) => (isLong(secret) ? quoted(text) : encoded(text))))];
}

/** As texts have it: JSON, HTML and XML, URLs. */
function quoted(text: string): readonly string[] {
  return [text, JSON.stringify(text).slice(1, -1), escaped(text), text.replaceAll('"', '\\"'), uri(text)];
}

function encoded(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  const hex = bytes.toString('hex');
  return [
    ...quoted(text),
    uri(text).replaceAll('%20', '+'),
    hex,
    ...[':', ' ', '%', '\\x', ', 0x'].map((between) => (hex.match(/../g) ?? []).join(between)),
    ...[(code: number) => `&#${code};`, (code: number) => `&#x${code.toString(16)};`].map((entity) =>
      Array.from(text, (character) => entity(character.codePointAt(0) ?? 0)).join(''),
    ),
    Array.from({ length: text.length }, (_, index) => unicode(text.charCodeAt(index))).join(''),
    // What is short is a word backwards: `no` is `on`.
    ...(text.length < shortestPart ? [] : [[...text].reverse().join('')]),
    ...base64(bytes),
  ];
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

function uri(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function unicode(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}

/**
 * Also as the middle of something longer: what stands before it shifts the digits, and is not known. Of less than 4 bytes
 * that would be a few letters like any others.
 */
function base64(bytes: Buffer): readonly string[] {
  return (bytes.length < shortestInWord ? [0] : [0, 1, 2]).flatMap((before) => {
    const digits = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const known = before === 0 ? digits : digits.slice(before + 1);
    return [known, known.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

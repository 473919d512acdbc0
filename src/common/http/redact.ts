import { fold, runsIn } from './runs.ts';
import { isLong, plain, spellings } from './spellings.ts';
import { oneLine } from './text.ts';

/** Less of a secret than this tells nothing. Of a long one more is needed: parts of documents are like words. */
const shortestPart = 8;
const shortestPartOfLong = 12;
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
  return redaction([text], secrets, () => said).redacted(text, mark);
}

export interface Redaction {
  /** One of the texts, for those who said that; of another nothing is left. */
  readonly redacted: (text: string, mark: string) => string;
  /** Whether a text is one of those, and has nothing to hide from anybody. */
  readonly isClean: (text: string) => boolean;
}

/** As {@link redact}, for several texts at once: what takes long is to go through the secrets. */
export function redaction(
  texts: readonly string[],
  secrets: readonly string[],
  said: () => readonly string[] = () => [],
): Redaction {
  const lines = () => said().flatMap((each) => [each, oneLine(each)]);
  const [long, short] = [secrets.filter(isLong), secrets.filter((secret) => !isLong(secret))];
  const within = fold(texts.join('\n'));
  const partsIn = (of: readonly string[], runs: ReadonlySet<string>, length: number) =>
    // Nobody knows all of the secrets: one is the key.
    runsIn(spellings(of, within), runs, length, secrets.join());
  // Of the secrets' own runs, in all the ways to spell them, there are thousands of times as many.
  const parts = (
    [
      [short, shortestPart],
      [long, shortestPartOfLong],
    ] as const
  ).map(([those, length]) => [partsIn(those, new Set(runsOf(within, length)), length), length] as const);
  const without = (text: string, mark: string, known: typeof lines) => {
    if (!texts.includes(text)) return mark;
    const hidden = new Uint8Array(text.length);
    for (const [found, length] of parts) {
      if (found.size === 0) continue;
      const unsaid = found.difference(partsIn(known(), found, length));
      for (const [start, run] of runsOf(fold(text), length).entries())
        if (unsaid.has(run)) hidden.fill(1, start, start + length);
    }
    return withoutShort(replaceHidden(text, hidden, mark), short, mark, known);
  };
  return {
    redacted: (text, mark) => without(text, mark, lines),
    isClean: (text) => without(text, '', () => []) === text,
  };
}

/** Every run of so many characters, in order. */
function runsOf(text: string, length: number): readonly string[] {
  return Array.from({ length: text.length - length + 1 }, (_, start) => text.slice(start, start + length));
}

/** Without the secrets that are short, or are but for white space. */
function withoutShort(text: string, secrets: readonly string[], mark: string, said: () => readonly string[]): string {
  const short = secrets
    .flatMap((secret) => [...new Set(spellings([...plain(secret)].filter(isShort)))])
    .filter((each) => isShort(each) && each.trim() !== '');
  if (!short.some((each) => text.includes(each))) return text;
  const known = [...spellings(said())].map(fold);
  const unsaid = short.filter((each) => !known.some((one) => one.includes(fold(each))));
  const { words = [], others = [] } = Object.groupBy(unsaid, ({ length }) =>
    length < shortestInWord ? 'words' : 'others',
  );
  return replaceWords(replaceAll(text, others, mark), words, mark);
}

function isShort({ length }: string): boolean {
  return length < shortestPart;
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

function replaceHidden(text: string, hidden: Uint8Array, mark: string): string {
  let shown = '';
  for (let index = 0; index < text.length; index++) {
    if (hidden[index] !== 1) shown += text[index];
    else if (hidden[index - 1] !== 1) shown += mark;
  }
  return shown;
}

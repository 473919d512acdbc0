/** A shell or terminal has no way of its own to read it; zsh has one of reading what begins with `=`. */
const isPlain = (text) => /^[\w./:@%+,-][\w./:@%+,=-]*$/.test(text);
const isPrintable = (text) => /^[\x20-\x7e]*$/.test(text);

/** Half of a surrogate pair becomes the replacement character. */
const utf8 = (character) => [...new TextEncoder().encode(character)];

/**
 * A word of a command line that a shell reads as this text. What is not printable ASCII, such as line ends, is written as
 * escapes, which bash, zsh and ksh know: pasted as it is, a terminal might obey it. `bytesOf` says what becomes of a
 * character beyond ASCII.
 */
export function quoted(text, bytesOf = utf8) {
  if (isPlain(text)) return text;
  if (isPrintable(text)) return `'${text.replaceAll("'", "'\\''")}'`;
  return `$'${[...text].map((character) => escaped(character, bytesOf)).join('')}'`;
}

function escaped(character, bytesOf) {
  if (character === '\n') return '\\n';
  // `!` is a matter of history, even within these quotes.
  const isItself = /^[\x20-\x7e]$/.test(character) && !/['\\!]/.test(character);
  return isItself ? character : bytesOf(character).map(octal).join('');
}

/** Always of three digits, so that a digit behind it stays one. */
const octal = (byte) => `\\${byte.toString(8).padStart(3, '0')}`;

const shortForms: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Text that a terminal shows and never obeys: control, format and lone surrogate characters are written as escapes. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, escaped);
}

/** The same for text of many lines, which keeps its line ends and tabs. */
export function printableLines(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => line.split('\t').map(printable).join('\t'))
    .join('\n');
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return shortForms[character] ?? (code < 0x100 ? `\\x${hex(code, 2)}` : `\\u{${hex(code, 1)}}`);
}

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0');

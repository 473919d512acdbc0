/** Each begins at its own first character, and what is not ended is no other one: no text is gone through twice. */
const tokens =
  /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>|<!(?!--|\[CDATA\[)(?:[^<>[\]]|\[[^\]]*\])*>|<\/?[^\s<>/!?](?:"[^"]*"|'[^']*'|[^<>"'])*>|[^<]+/y;

/** As of JSON: the indents of deep nesting would take gigabytes. */
const deepest = 100;
const longest = 2 * 1024 * 1024;
const mostLaidOut = 8 * 1024 * 1024;

/**
 * XML with a line for each tag, an element that holds nothing but text on one line. White space between tags is what
 * is changed. Throws where tags do not match, or there is too much; entities are left as they are.
 */
export function layOut(xml) {
  if (xml.length > longest) throw new RangeError('too long to be laid out');
  const out = [];
  const open = [];
  let last = 'none';
  let length = 0;
  for (const token of tokensOf(xml)) {
    length += token.length + 2 * open.length;
    if (length > mostLaidOut) throw new RangeError('too long to be laid out');
    const kind = kindOf(token);
    if (kind === 'blank') continue;
    if (kind === 'end' && open.pop() !== nameOf(token))
      throw new SyntaxError(`</${nameOf(token)}> ends what is not open`);
    const isInline =
      (kind === 'end' && (last === 'start' || last === 'text of start')) || (kind === 'text' && last === 'start');
    if (!isInline && out.length > 0) out.push(`\n${'  '.repeat(open.length)}`);
    out.push(kind === 'text' ? token.trim() : token);
    if (kind === 'start') open.push(nameOf(token));
    if (open.length > deepest) throw new RangeError('nested too deeply to be laid out');
    last = kind === 'text' && last === 'start' ? 'text of start' : kind;
  }
  if (open.length > 0) throw new SyntaxError(`<${open.at(-1)}> is not closed`);
  return out.join('');
}

function* tokensOf(xml) {
  tokens.lastIndex = 0;
  for (let at = 0; at < xml.length; at = tokens.lastIndex) {
    const [token] = tokens.exec(xml) ?? [];
    if (token === undefined) throw new SyntaxError(`what is at character ${at + 1} is no tag`);
    yield token;
    tokens.lastIndex = at + token.length;
  }
}

function kindOf(token) {
  if (!token.startsWith('<')) return token.trim() === '' ? 'blank' : 'text';
  if (token.startsWith('</')) return 'end';
  if (token.startsWith('<!') || token.startsWith('<?') || token.endsWith('/>')) return 'other';
  return 'start';
}

const nameOf = (tag) => /^<\/?([^\s>/]+)/.exec(tag)?.[1] ?? tag;

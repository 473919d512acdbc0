const tokens = /"(?:[^"\\]+|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g;

/** A body of a few kilobytes may be nested so deeply that its indents would take gigabytes. */
const deepest = 100;
/** Of many short values the indents are most of it. */
const mostLaidOut = 8 * 1024 * 1024;

/**
 * JSON with a line for each value; throws where it is none, nested too deeply, or too long. It keeps what it holds: parsed and
 * written again, long numbers would be rounded and doubled names lost.
 */
export function layOut(json) {
  JSON.parse(json);
  const out = [];
  let depth = 0;
  let last = '';
  let length = 0;
  for (const [token] of json.matchAll(tokens)) {
    length += token.length + 2 * depth;
    if (length > mostLaidOut) throw new RangeError('too long to be laid out');
    if (closes(token)) depth -= 1;
    const isEmpty = opens(last) && closes(token);
    if (last === ',' || ((opens(last) || closes(token)) && !isEmpty)) out.push(`\n${'  '.repeat(depth)}`);
    out.push(token === ':' ? ': ' : token);
    if (opens(token)) depth += 1;
    if (depth > deepest) throw new RangeError('nested too deeply to be laid out');
    last = token;
  }
  return out.join('');
}

const opens = (token) => token === '[' || token === '{';
const closes = (token) => token === ']' || token === '}';

const tokens = /"(?:[^"\\]+|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g;

/** A body of a few kilobytes may be nested so deeply that its indents would take gigabytes. */
const deepest = 100;

/**
 * JSON with a line for each value; throws where it is none, or nested too deeply. It keeps what it holds: parsed and
 * written again, long numbers would be rounded and doubled names lost.
 */
export function layOut(json) {
  JSON.parse(json);
  const out = [];
  let depth = 0;
  let last = '';
  for (const [token] of json.matchAll(tokens)) {
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

import {
  type Document,
  isNode,
  isScalar,
  Lexer,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLError,
  type YAMLMap,
  YAMLParseError,
} from 'yaml';

export interface YamlOptions {
  /** Of a text that strangers write: longer ones are refused; default no bound. */
  readonly mostTokens?: number;
  /** Whether `<<` takes over what another map has; default it is a key like others. */
  readonly merges?: boolean;
}

/**
 * Reads one YAML document. What JavaScript has no place for is refused rather than lost: keys that become the same
 * property, are `__proto__`, or are neither text, number nor boolean, and tags but those of JSON's types. Throws an
 * Error of one line that says where it is wrong, without the text: it may hold a secret.
 */
export function parseYaml(text: string, options: YamlOptions = {}): unknown {
  const { mostTokens = Number.POSITIVE_INFINITY, merges = false } = options;
  try {
    refuseLong(text, mostTokens);
    return read(text, merges);
  } catch (error) {
    throw new Error(reasonOf(error));
  }
}

/** Reading takes up to 10 microseconds a token, and many times that of one that is wrong; to count them takes nothing. */
function refuseLong(text: string, mostTokens: number): void {
  if (text.length <= mostTokens) return;
  let tokens = 0;
  for (const _ of new Lexer().lex(text)) {
    if (++tokens > mostTokens) throw new Error(`more than ${mostTokens} tokens`);
  }
}

function read(text: string, merges: boolean): unknown {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    prettyErrors: false,
    logLevel: 'error',
    // The library compares each key with every other one of its map: of 24,000 that takes 20 s.
    uniqueKeys: false,
    lineCounter: lines,
    merge: merges,
  });
  const [error] = document.errors;
  if (error !== undefined) throw located(error, lines);
  refuseLosses(document, lines);
  const warning = document.warnings.find(({ code }) => !harmless.includes(code));
  if (warning !== undefined) throw located(warning, lines);
  return document.toJS();
}

/** Brackets that close on a line less indented than the library would have it, as people write JSON; anchors like `&x:`. */
const harmless: readonly string[] = ['BAD_INDENT', 'BAD_ALIAS'];

/** What would be dropped without a word, as the library warns of part of it only. */
function refuseLosses(document: Document, lines: LineCounter): void {
  visit(document, {
    Value: (_, node) => refuseTag(node, lines),
    Map: (_, map) => {
      refuseTag(map, lines);
      refuseKeys(map, lines);
    },
  });
}

const tags = new Set(['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`));

function refuseTag(node: Node, lines: LineCounter): void {
  if (node.tag === undefined || tags.has(node.tag)) return;
  throw refused('Tags must be !!str, !!int, !!float, !!bool, !!null, !!map or !!seq', node, lines);
}

function refuseKeys({ items }: YAMLMap, lines: LineCounter): void {
  const seen = new Set<string | symbol>();
  for (const { key } of items) {
    const property = propertyOf(key);
    if (property === undefined) throw refused('Map keys must be written as text, number or boolean', key, lines);
    // As a property it is there, and what reads the value looks past it.
    if (property === '__proto__') throw refused('Map keys must not be __proto__', key, lines);
    if (seen.has(property)) throw refused('Map keys must be unique', key, lines);
    seen.add(property);
  }
}

/** What a key becomes: a text, but for the merge key of YAML 1.1. Undefined for one that is no text, number or boolean. */
function propertyOf(key: unknown): string | symbol | undefined {
  const value = isScalar(key) ? key.value : undefined;
  if (typeof value === 'symbol') return value;
  return value === undefined || value === null || typeof value === 'object' ? undefined : String(value);
}

function refused(problem: string, node: unknown, lines: LineCounter): Error {
  return new Error(`${problem} ${at(lines, (isNode(node) ? node.range?.[0] : undefined) ?? 0)}`);
}

/** As the library would, but of the first error alone: that of each shows its line. */
function located(error: YAMLError, lines: LineCounter): YAMLError {
  if (error.pos[0] !== -1) error.message += ` ${at(lines, error.pos[0])}`;
  return error;
}

function at(lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset);
  return `at line ${line}, column ${col}`;
}

function reasonOf(error: unknown): string {
  const code = error instanceof YAMLParseError ? error.code : undefined;
  if (code === 'MULTIPLE_DOCS') return 'more than one document';
  // Of the stack, where it is read or where it is looked through.
  if (code === 'RESOURCE_EXHAUSTION' || error instanceof RangeError) return 'it nests too deeply';
  const [line = ''] = String(error instanceof Error ? error.message : error).split('\n');
  // Behind a colon or a percent sign stands the text itself, and so it does in these.
  return line
    .replace(/^The !.* tag has no suffix/, 'A tag has no suffix')
    .replace(/^Unsupported YAML version .*?(?=( at line \d+, column \d+)?$)/, 'Unsupported YAML version')
    .replace(/:$/, '')
    .replace(/(?<! or )(: | %).*?(?=( at line \d+, column \d+)?$)/, '');
}

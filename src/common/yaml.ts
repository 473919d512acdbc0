import { isScalar, Lexer, LineCounter, parseDocument, visit, YAMLParseError } from 'yaml';

export interface YamlOptions {
  /** Of a text that strangers write: longer ones are refused; default no bound. */
  readonly mostTokens?: number;
}

/** Reads one YAML document. Throws an Error of one line that says where it is wrong, without the text: it may hold a secret. */
export function parseYaml(text: string, { mostTokens = Number.POSITIVE_INFINITY }: YamlOptions = {}): unknown {
  try {
    refuseLong(text, mostTokens);
    return read(text);
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

/** The library compares each key with every other one of its map: of 24,000 that takes 20 s. */
function read(text: string): unknown {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    prettyErrors: false,
    logLevel: 'error',
    uniqueKeys: false,
    lineCounter: lines,
  });
  const [error] = document.errors;
  if (error !== undefined) throw located(error, lines);
  visit(document, {
    Map: (_, { items }) => {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) throw new Error(`Map keys must be unique ${at(lines, key.range?.[0] ?? 0)}`);
        seen.add(key.value);
      }
    },
  });
  return document.toJS();
}

/** As the library would, but of the first error alone: that of each shows its line. */
function located(error: YAMLParseError, lines: LineCounter): YAMLParseError {
  if (error.pos[0] !== -1) error.message += ` ${at(lines, error.pos[0])}`;
  return error;
}

function at(lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset);
  return `at line ${line}, column ${col}`;
}

function reasonOf(error: unknown): string {
  if (error instanceof YAMLParseError && error.code === 'MULTIPLE_DOCS') return 'more than one document';
  const [line = ''] = String(error instanceof Error ? error.message : error).split('\n');
  // Behind a colon stands the text itself.
  return line.replace(/:$/, '').replace(/(?<! or ): .*?(?=( at line \d+, column \d+)?$)/, '');
}

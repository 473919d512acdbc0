import { isScalar, LineCounter, parseDocument, visit, YAMLParseError } from 'yaml';

/** Reads one YAML document. Throws an Error of one line that says where it is wrong, without the text: it may hold a secret. */
export function parseYaml(text: string): unknown {
  try {
    return read(text);
  } catch (error) {
    throw new Error(reasonOf(error));
  }
}

/** The library compares each key with every other one of its map: of 24,000 that takes 20 s. */
function read(text: string): unknown {
  const lines = new LineCounter();
  const document = parseDocument(text, { logLevel: 'error', uniqueKeys: false, lineCounter: lines });
  const [error] = document.errors;
  if (error !== undefined) throw error;
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

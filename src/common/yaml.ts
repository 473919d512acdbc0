import { parse, YAMLParseError } from 'yaml';

/** Reads one YAML document. Throws an Error of one line that says where it is wrong, without the text: it may hold a secret. */
export function parseYaml(text: string): unknown {
  try {
    return parse(text, { logLevel: 'error' });
  } catch (error) {
    throw new Error(reasonOf(error));
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof YAMLParseError && error.code === 'MULTIPLE_DOCS') return 'more than one document';
  const [line = ''] = String(error instanceof Error ? error.message : error).split('\n');
  // Behind a colon stands the text itself.
  return line.replace(/:$/, '').replace(/(?<! or ): .*?(?=( at line \d+, column \d+)?$)/, '');
}

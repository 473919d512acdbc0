import { parse, YAMLParseError } from 'yaml';

/**
 * Reads one YAML document. Throws an Error of one line that says where it is wrong; it never quotes the text, which may
 * hold a secret.
 */
export function parseYaml(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof YAMLParseError)) throw error;
    throw new Error(error.code === 'MULTIPLE_DOCS' ? 'more than one document' : firstLine(error.message));
  }
}

function firstLine(message: string): string {
  return (message.split('\n')[0] ?? '').replace(/:$/, '');
}

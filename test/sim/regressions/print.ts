import type { StoryFile } from './story-file.ts';

const width = 120;

/** As the formatter leaves it: what fits on a line is on one. */
export function printStory(file: StoryFile): string {
  return `${printed(file, '', 0)}\n`;
}

/** @param beside length of what stands on the line already, or still has to */
function printed(value: unknown, indent: string, beside: number): string {
  const line = onOneLine(value);
  if (indent !== '' && indent.length + beside + line.length <= width) return line;
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map((item) => `${inner}${printed(item, inner, 1)}`);
    return items.length === 0 ? '[]' : `[\n${items.join(',\n')}\n${indent}]`;
  }
  if (typeof value !== 'object' || value === null) return line;
  const fields = entriesOf(value).map(([name, each]) => {
    const key = `${JSON.stringify(name)}: `;
    return `${inner}${key}${printed(each, inner, key.length + 1)}`;
  });
  return `{\n${fields.join(',\n')}\n${indent}}`;
}

function onOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = entriesOf(value).map(([name, each]) => `${JSON.stringify(name)}: ${onOneLine(each)}`);
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

const entriesOf = (value: object) => Object.entries(value).filter(([, each]) => each !== undefined);

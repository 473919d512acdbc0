import { childPath } from '../schema/structural.ts';

interface Frame {
  readonly path: string;
  /** Names seen in a map; undefined in a list. */
  readonly names: Set<string> | undefined;
  /** The name or index of the value that is being read. */
  at: string | number;
}

const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/** Paths of fields that JSON text gives more than once, which parsing does not show: `spec.color`. */
export function duplicateFields(text: string): readonly string[] {
  const found: string[] = [];
  const stack: Frame[] = [];
  let isName = false;
  for (const [part] of text.matchAll(token)) {
    const frame = stack.at(-1);
    if (part === '{' || part === '[') {
      const path = frame === undefined ? '' : childPath(frame.path, frame.at);
      stack.push({ path, names: part === '{' ? new Set() : undefined, at: part === '{' ? '' : 0 });
      isName = part === '{';
    } else if (part === '}' || part === ']') {
      stack.pop();
      isName = false;
    } else if (part === ',') {
      isName = frame?.names !== undefined;
      if (typeof frame?.at === 'number') frame.at += 1;
    } else if (part === ':') isName = false;
    else if (isName && frame?.names !== undefined) {
      frame.at = JSON.parse(part) as string;
      if (frame.names.has(frame.at)) found.push(childPath(frame.path, frame.at));
      frame.names.add(frame.at);
    }
  }
  return found;
}

import type { z } from 'zod';

const longestLine = 300;

/** undefined, which JSON cannot say, for what is not JSON: the parser's own message quotes the text. */
export function parseJSON(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether it has more values than so many, as JSON; told without parsing it. */
export function hasMoreValues(text: string, most: number): boolean {
  if (text.length <= most) return false;
  let values = 0;
  for (let at = 0; at < text.length && values <= most; at++) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === '[' || character === '{' || character === ',') values++;
  }
  return values > most;
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === '\\') first--;
  return (at - first) % 2 === 1;
}

/**
 * The field and what it should be, or what a schema of ours says of it; never the value, which may be a secret. Keys of a map are
 * the service's own words.
 */
export function describeIssue(issue: z.core.$ZodIssue | undefined, whole = 'the body'): string {
  const path = issue?.path.join('.') || whole;
  if (issue?.code === 'custom') return `${path}: ${issue.message}`;
  if (issue?.code === 'too_big' && issue.origin === 'string') return `${path}: longer than ${issue.maximum} characters`;
  return issue?.code === 'invalid_type' ? `${path}: expected ${issue.expected}` : `${path}: invalid`;
}

/** One line without control characters. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
}

/** What a service said, fit for a condition: at most so many characters, 300 by default. */
export function clipped(text: string, longest = longestLine): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}

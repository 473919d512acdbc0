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

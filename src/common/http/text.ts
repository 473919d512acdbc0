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

/** The field and what it should be; never the value, which may be a secret. */
export function describeIssue(issue: z.core.$ZodIssue | undefined): string {
  const path = issue?.path.join('.') || 'the body';
  return issue?.code === 'invalid_type' ? `${path}: expected ${issue.expected}` : `${path}: invalid`;
}

/** What a service said, fit for a condition: one line without control characters, at most 300 characters. */
export function oneLine(text: string): string {
  const line = text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
  return line.length <= longestLine ? line : `${line.slice(0, longestLine - 1)}…`;
}

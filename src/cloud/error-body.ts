import { z } from 'zod';
import { oneLine } from '../http/text.ts';

const wireError = z.object({
  error_code: z.string().optional().catch(undefined),
  msg: z.string().optional().catch(undefined),
  details: z.record(z.string(), z.unknown()).optional().catch(undefined),
});

/** What an error body says that is fit for a condition: a code, and a message of one line without secrets or ids. */
export function errorBody(
  body: unknown,
  secrets: readonly string[],
): { readonly code?: string; readonly msg?: string } {
  const parsed = wireError.safeParse(body);
  if (!parsed.success) return {};
  const { error_code: code, msg, details } = parsed.data;
  const clean = msg === undefined ? '' : oneLine(redact(msg, secrets, requestIDs(details)));
  return {
    ...(code !== undefined && looksLikeCode(code) && !secrets.includes(code) ? { code } : {}),
    ...(clean === '' ? {} : { msg: clean }),
  };
}

function looksLikeCode(code: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/.test(code);
}

/** They differ each time, and a condition that changes with every attempt is a write with every attempt. */
function requestIDs(details: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  const ids = [details?.operation_id, details?.request_id];
  return ids.filter((id) => typeof id === 'string');
}

function redact(text: string, secrets: readonly string[], ids: readonly string[]): string {
  const withoutSecrets = replaceAll(text, secrets.flatMap(spellings), '[redacted]');
  return replaceAll(withoutSecrets, ids, '[id]');
}

/** A value may be repeated as it is, or quoted as a JSON string. */
function spellings(secret: string): readonly string[] {
  return [secret, JSON.stringify(secret).slice(1, -1)];
}

/** Longest first, so that no value is left in part because it contains another one. */
function replaceAll(text: string, values: readonly string[], by: string): string {
  const known = values.filter((value) => value !== '').sort((a, b) => b.length - a.length);
  return known.reduce((rest, value) => rest.replaceAll(value, () => by), text);
}

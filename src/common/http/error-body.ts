import { z } from 'zod';
import { oneLine } from './text.ts';

/** Less of a secret than this tells nothing. */
const shortestHead = 8;

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
  const spelled = secrets.flatMap(spellings);
  const withoutSecrets = replaceAll(text, spelled, '[redacted]');
  return replaceAll(spelled.reduce(withoutHead, withoutSecrets), ids, '[id]');
}

/** A value may be repeated as it is, without the white space around it, or quoted as a JSON string. */
function spellings(secret: string): readonly string[] {
  return [secret, secret.trim()].flatMap((text) => [text, JSON.stringify(text).slice(1, -1)]);
}

/** A long value may be repeated up to some length. */
function withoutHead(text: string, secret: string): string {
  if (secret.length < 2 * shortestHead) return text;
  const [before = '', ...after] = text.split(secret.slice(0, shortestHead));
  return before + after.map((rest) => `[redacted]${rest.slice(alike(rest, secret.slice(shortestHead)))}`).join('');
}

/** How many characters two texts have in common from their beginning. */
function alike(a: string, b: string): number {
  const end = a.split('').findIndex((unit, index) => unit !== b[index]);
  return end < 0 ? a.length : end;
}

/** Longest first, so that no value is left in part because it contains another one. */
function replaceAll(text: string, values: readonly string[], by: string): string {
  const known = values.filter((value) => value !== '').sort((a, b) => b.length - a.length);
  return known.reduce((rest, value) => rest.replaceAll(value, () => by), text);
}

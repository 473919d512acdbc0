import type { z } from 'zod';
import { nestsDeeper } from '../../../common/nesting.ts';

/*
 * What a resource, or an object that it refers to, may hold at most. Whatever is admitted is read, compared and sent in one
 * go, and a tenant can have many of it.
 */

const KiB = 1024;

/** Of a text, in bytes of UTF-8, and of a document as JSON. */
export const mostBytes = 64 * KiB;

const mostLevels = 100;

/** Why a text is more than is taken, as the end of a sentence about it. */
export function excessOfText(text: string): string | undefined {
  const bytes = Buffer.byteLength(text);
  return bytes > mostBytes ? `is ${bytes} bytes long; at most ${mostBytes} are taken` : undefined;
}

/** The same of a JSON document. */
export function excessOfDocument(document: unknown): string | undefined {
  if (nestsDeeper(document, mostLevels)) return `nests deeper than ${mostLevels} levels`;
  return excessOfText(JSON.stringify(document) ?? '');
}

/** For a schema that takes any keys: no definition can say how much may be in them, or what sort of numbers. */
export function bounded(document: unknown, context: z.RefinementCtx): void {
  const message = excessOfDocument(document) ?? inexactness(document);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
}

/** Whether a JSON document is longer than so many bytes, as `bytesOf` counts them. */
export function isLarger(document: unknown, bytes: number): boolean {
  return bytesOf(document, bytes) > bytes;
}

/**
 * The length of a JSON document in bytes, give or take what escapes and numbers take; of one that is longer than `most`
 * something that is more than that. Looks no further than it must, and into any depth: whatever the API server admits can
 * be asked about.
 */
export function bytesOf(document: unknown, most: number): number {
  const rest: unknown[] = [];
  let bytes = 0;
  const take = (key: number, value: unknown) => {
    bytes += key + 1 + (typeof value === 'string' ? value.length + 2 : 1);
    if (bytes <= most) rest.push(value);
    return bytes <= most;
  };
  take(0, document);
  while (bytes <= most && rest.length > 0) {
    const value = rest.pop();
    if (typeof value === 'string') bytes += Buffer.byteLength(value) - value.length;
    else if (Array.isArray(value)) value.every((inner) => take(0, inner));
    else if (typeof value === 'object' && value !== null) {
      // Not by its entries, which would all be made before the first is looked at.
      for (const key in value) if (!take(key.length + 3, (value as Record<string, unknown>)[key])) break;
    }
  }
  return bytes;
}

/** Whether a JSON document of any depth has a key that is lost where it is read by a schema. */
export function holdsLostKey(document: unknown): boolean {
  const all = [document];
  for (const value of all) {
    if (typeof value !== 'object' || value === null) continue;
    if (Object.hasOwn(value, '__proto__')) return true;
    // Not spread: of a long list that would be too many arguments.
    for (const inner of Object.values(value)) all.push(inner);
  }
  return false;
}

/** What is read as another number than was written would be sent as that. */
function inexactness(document: unknown): string | undefined {
  return holdsInexact(document) ? 'holds a number with more digits than are kept: write it as a text' : undefined;
}

function holdsInexact(value: unknown): boolean {
  if (typeof value !== 'number') return typeof value === 'object' && Object.values(value ?? {}).some(holdsInexact);
  return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
}

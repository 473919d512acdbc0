import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { KubeObject } from '../../kube/types.ts';
import { excessOfText } from '../resource/bounds.ts';

/** A Secret or a ConfigMap. */
export interface DataObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

/** In bytes: an API key is far shorter, and of a policy or a certificate its digest is enough until it is sent. */
export const mostKeptBytes = 4 * 1024;

/** What is kept of the value of one key: the text where it is short, and what tells it from another. */
export type Value =
  | { readonly kind: 'missing' }
  /** `problem` ends a sentence about the value. */
  | { readonly kind: 'refused'; readonly problem: string; readonly digest: string }
  | { readonly kind: 'text'; readonly text: string; readonly digest: string }
  | { readonly kind: 'long'; readonly bytes: number; readonly digest: string };

/** The value of a key as text, or its bytes where they are none; undefined when there is none. */
export function contentOf({ kind, data, binaryData }: DataObject, key: string): string | Buffer | undefined {
  const text = data?.[key];
  if (kind === 'ConfigMap' && text !== undefined) return text;
  const encoded = kind === 'Secret' ? text : binaryData?.[key];
  if (encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  return isUtf8(bytes) ? bytes.toString('utf8') : bytes;
}

/** @param value as `contentOf` has it */
export function keptValue(value: string | Buffer | undefined): Value {
  if (value === undefined) return { kind: 'missing' };
  const bytes = Buffer.byteLength(value);
  if (typeof value === 'string' && bytes <= mostKeptBytes) return { kind: 'text', text: value, digest: value };
  const digest = hash('sha256', value, 'base64');
  const problem = typeof value === 'string' ? excessOfText(value) : 'is no text in UTF-8';
  return problem === undefined ? { kind: 'long', bytes, digest } : { kind: 'refused', problem, digest };
}

export function sameValue(one: Value, other: Value): boolean {
  return one.kind === other.kind && (one.kind === 'missing' || one.digest === (other as typeof one).digest);
}

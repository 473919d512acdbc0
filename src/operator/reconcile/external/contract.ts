import type { z } from 'zod';
import type { Call } from '../../../common/call.ts';
import type { OddItem } from '../../../common/odd-item.ts';
import type { ManagedSpec } from '../resource/resource.ts';

export interface Identity {
  readonly id: string;
  /** RFC 3339, by the service's clock. */
  readonly createdAt: string;
}

export interface Difference {
  /** Name of the spec field. */
  readonly field: string;
  /** Set when the service cannot change the field in place: what is out there. */
  readonly immutable?: string;
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * A kind of external object whose id the service assigns. The look-up (`list`, `content`, `contentOf`) is not optional:
 * without it a create whose answer was lost could not be told from one that never happened.
 */
export interface ExternalContract<Spec extends ManagedSpec, Observed, Client> {
  /** What people call the external object: "reserved address". */
  readonly displayName: string;
  readonly spec: z.ZodType<Spec>;

  identity(observed: Observed): Identity;
  /** What a create of this spec asks of the service. Two specs of equal content make interchangeable objects. */
  content(spec: Spec): Json;
  /** The same, read back from an object that was never updated. */
  contentOf(observed: Observed): Json;
  /** Fields that the user set and that are different out there. */
  diff(spec: Spec, observed: Observed): readonly Difference[];
  /** The kind's own status fields; a field that is undefined is removed. */
  status(observed: Observed): Readonly<Record<string, unknown>>;

  get(client: Client, id: string, call: Call): Promise<Observed | undefined>;
  /** Newest first. What cannot be read as one is left out, and `onOdd` is told of it. */
  list(client: Client, call: Call, onOdd: (item: OddItem) => void): AsyncIterable<Observed>;
  create(client: Client, spec: Spec, call: Call): Promise<Observed>;
  /** Sends only `fields`. */
  update(client: Client, id: string, spec: Spec, fields: ReadonlySet<string>, call: Call): Promise<Observed>;
  delete(client: Client, id: string, call: Call): Promise<'deleted' | 'absent'>;
}

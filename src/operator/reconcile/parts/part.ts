import type { z } from 'zod';
import type { Call } from '../../../common/call.ts';
import type { Reference } from '../referents/references.ts';
import type { ManagedSpec } from '../resource/resource.ts';

/**
 * Reads what a reference names, as text, and from then on watches it: a change enqueues the resource. Throws
 * DependencyError while it is missing.
 */
export type ReadReference = (reference: Reference) => Promise<string>;

/**
 * A module: at most one per parent, replaced whole, and identified by its parent, so that sending it twice does no
 * harm. `Body` is what a PUT takes, `Observed` what a GET shows.
 */
export interface Part<Spec, Client, Body = never, Observed = never> {
  /** The field of spec and of status: `saml`. */
  readonly name: string;
  /** The part's own condition, `SamlReady`; none where the part is the whole resource. */
  readonly condition: string | undefined;
  /** What people call it: "SAML module". */
  readonly displayName: string;

  /** What the spec asks for; undefined when it does not name the part. A field that the user left out is undefined. */
  desired(spec: Spec, read: ReadReference): Promise<Body | undefined>;
  /** Names of the spec fields of the part that the user set and that are different out there. Never a value. */
  diff(body: Body, observed: Observed): readonly string[];
  /** Names of the spec fields that the body has no value for, which a PUT would reset. None where it always has all. */
  unset?(body: Body): readonly string[];
  /**
   * The body with what the spec leaves out as it is out there, which a PUT would reset, but for `leftOut`, fields of the spec that
   * are to be. None where a PUT takes nothing that may be left out.
   */
  filled?(body: Body, observed: Observed, leftOut: readonly string[]): Body;
  /** Why the service would refuse this, as far as can be told before a PUT. */
  refusal?(body: Body, observed: Observed | undefined): string | undefined;
  /** The part's own status fields. No secret is among them. */
  status(observed: Observed): Readonly<Record<string, unknown>>;

  get(client: Client, spec: Spec, call: Call): Promise<Observed | undefined>;
  replace(client: Client, spec: Spec, body: Body, call: Call): Promise<Observed>;
  delete(client: Client, spec: Spec, call: Call): Promise<'deleted' | 'absent'>;
}

/** A kind that is a set of parts of one parent, such as the modules of an HTTPS route. */
export interface PartsContract<Spec extends ManagedSpec, Client> {
  readonly spec: z.ZodType<Spec>;
  /** What people call the parent, with its ids: "route edghtsrt_1 of edge edghts_1". Reads nothing but the ids, which cannot be changed. */
  parent(spec: Spec): string;
  // biome-ignore lint/suspicious/noExplicitAny: each part has a body and an observation of its own, which only it reads
  readonly parts: readonly Part<Spec, Client, any, any>[];
  /** The kind's status fields from those of its parts, by name; `applied` is true for a part that is as asked. */
  status(parts: ReadonlyMap<string, PartStatus>): Readonly<Record<string, unknown>>;
}

export type PartStatus = Readonly<Record<string, unknown>> & { readonly applied: boolean };

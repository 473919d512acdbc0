import { z } from 'zod';
import { clipped } from '../../../../common/http/text.ts';
import type { TunnelDefinition } from '../../../agent-client/client.ts';
import type { Tunnel } from '../../../agent-client/schemas.ts';
import { annotationOf } from '../../../reconcile/annotations.ts';
import { fingerprint } from '../../../reconcile/json.ts';
import type { ManagedObject } from '../../../reconcile/resource.ts';
import type { Annotations } from '../../../reconcile/writer.ts';
import type { Spec } from './schema.ts';

/** The tunnel that a resource started in an agent, or was about to. */
export const startedTunnel = 'edge-operator.dev/started-tunnel';

/** A spec has at most half of it. */
const longest = 4_096;

const shownSchema = z.object({ proto: z.string(), addr: z.string(), inspect: z.boolean().optional() });

/** An agent need not show what was not asked for. */
const lookSchema = z.object({ look: z.string(), inspect: z.boolean().optional() });

const startedSchema = shownSchema.extend({
  /** Of the resource: a record that was copied with a manifest says nothing of the copy. */
  uid: z.string(),
  /** Of the agent. */
  url: z.string(),
  name: z.string(),
  /** Fingerprint: an agent need not show options, and they may be secret. */
  options: z.string(),
  /** Of the resource, when the start was asked for. */
  generation: z.number().optional(),
  /** As the agent put it when it started the tunnel, where that is not as it was asked. */
  shown: shownSchema.optional(),
  /** Of other definitions that were asked for before: their starts, and this one's, were not answered. */
  before: z.array(lookSchema).optional(),
});

/** What an agent shows of a tunnel's definition. */
export type Shown = z.infer<typeof shownSchema>;

/** How a definition shows in an agent: a fingerprint, for the record must stay short. */
export type Look = z.infer<typeof lookSchema>;

/** A tunnel that a resource started, or is about to; on record in its annotation. */
export type Started = z.infer<typeof startedSchema>;

/** The record of this very resource, unless a person garbled it. */
export function startedOf(object: ManagedObject): Started | undefined {
  const started = parse(annotationOf(object, startedTunnel) ?? '');
  return started?.uid === object.metadata.uid ? started : undefined;
}

function parse(text: string): Started | undefined {
  try {
    return startedSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** The tunnel that a resource asks for in the agent at `url`, as it is put on record. */
export function wanted({ metadata }: ManagedObject, spec: Spec, name: string, url: string): Started {
  const { proto, addr, inspect, options = {} } = spec;
  const { uid = '', generation } = metadata;
  return { uid, url, name, proto, addr, inspect, options: fingerprint(options), generation };
}

/** The body of its POST. */
export function definitionOf({ proto, addr, inspect, options }: Spec, name: string): TunnelDefinition {
  return { ...options, name, proto, addr, inspect };
}

/** Options that are not sent: fields of the spec, also those that are left out, say that. */
export function ignoredOf({ options = {} }: Spec): readonly string[] {
  return ['name', 'proto', 'addr', 'inspect'].filter((option) => option in options);
}

/** As much of it as goes into a record. */
export function shownOf({ proto, config: { addr, inspect } }: Tunnel): Shown {
  return { proto: clipped(proto, longest), addr: clipped(addr, longest), inspect };
}

/** The annotation that puts it on record; nothing when there is nothing of it any more. */
export function recordOf(started: Started | undefined): Annotations {
  return { [startedTunnel]: started === undefined ? null : JSON.stringify(started) };
}

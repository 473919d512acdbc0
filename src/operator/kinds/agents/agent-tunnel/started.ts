import { z } from 'zod';
import type { TunnelDefinition } from '../../../agent-client/client.ts';
import { annotation, annotationOf } from '../../../reconcile/resource/annotations.ts';
import { fingerprint } from '../../../reconcile/resource/json.ts';
import type { Facts } from '../../../reconcile/resource/memory.ts';
import { conditionOf, type ManagedObject } from '../../../reconcile/resource/resource.ts';
import type { Annotations } from '../../../reconcile/resource/writer.ts';
import { lookOf, lookSchema, shownSchema } from './look.ts';
import type { Spec, Status } from './schema.ts';

/** The fields of a definition, each as a fingerprint: a record must stay short, and options may be secret. */
const askedSchema = z.object({ proto: z.string(), addr: z.string(), inspect: z.string(), options: z.string() });

const placeSchema = z.object({
  /** Of the resource: a record that was copied with a manifest says nothing of the copy. */
  uid: z.string(),
  /** Of the agent. */
  url: z.string(),
  name: z.string(),
  /**
   * When its start was asked for, as `toISOString` has it; the status has the same once that was answered. None where it was
   * adopted, nor where somebody wrote something else there: a status of that would be refused.
   */
  startedAt: z.iso.datetime({ precision: 3 }).optional().catch(undefined),
  /** In place of that earlier versions had the generation of the resource, which its status came to. */
  generation: z.number().optional(),
  /** Of other definitions that were asked for before: their starts, and this one's, were not answered. */
  before: z.array(lookSchema).optional(),
});

const startedSchema = placeSchema.extend({
  asked: askedSchema,
  /** As it was asked, or as the agent put it when it started the tunnel, where that is otherwise. */
  shown: lookSchema,
});

/** As earlier versions wrote it: with the definition in full. */
const earlierSchema = placeSchema
  .extend({ ...shownSchema.shape, options: z.string(), shown: shownSchema.optional() })
  .transform(({ proto, addr, inspect, options, shown, ...place }): Started => {
    const asked = { ...fingerprints({ proto, addr, inspect }), options };
    return { ...place, asked, shown: lookOf(shown ?? { proto, addr, inspect }) };
  });

/** A tunnel that a resource started in an agent, or is about to; on record in its annotation. */
export type Started = z.infer<typeof startedSchema>;

const recordSchema = z.union([startedSchema, earlierSchema]);

/** The record of this very resource, unless a person garbled it. */
export function startedOf(object: ManagedObject): Started | undefined {
  const started = parse(annotationOf(object, annotation.startedTunnel) ?? '');
  return started?.uid === object.metadata.uid ? started : undefined;
}

function parse(text: string): Started | undefined {
  try {
    return recordSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** The tunnel that a resource asks for in the agent at `url`, as it is put on record. */
export function wanted({ metadata }: ManagedObject, spec: Spec, name: string, url: string): Started {
  const { uid = '' } = metadata;
  const asked = { ...fingerprints(spec), options: fingerprint(spec.options ?? {}) };
  return { uid, url, name, asked, shown: lookOf(spec) };
}

function fingerprints({ proto, addr, inspect }: Pick<Spec, 'proto' | 'addr' | 'inspect'>) {
  return { proto: fingerprint(proto), addr: fingerprint(addr), inspect: fingerprint(inspect) };
}

/** The body of its POST. */
export function definitionOf({ proto, addr, inspect, options }: Spec, name: string): TunnelDefinition {
  return { ...options, name, proto, addr, inspect };
}

/** Those that are sent, as an agent shows them that adds nothing. */
export function sentOptionsOf({ options = {} }: Spec): string {
  const { name: _name, proto: _proto, addr: _addr, inspect: _inspect, ...sent } = options;
  return fingerprint(sent);
}

/** Options that are not sent: fields of the spec, also those that are left out, say that. */
export function ignoredOf({ options = {} }: Spec): readonly string[] {
  return ['name', 'proto', 'addr', 'inspect'].filter((option) => option in options);
}

/** The annotation that puts it on record; nothing when there is nothing of it any more. */
export function recordOf(started: Started | undefined): Annotations {
  return { [annotation.startedTunnel]: started === undefined ? null : JSON.stringify(started) };
}

/** The status proves that it was there, for this resource. */
export function isShown({ status }: ManagedObject, { url, name }: Pick<Started, 'url' | 'name'>): boolean {
  const { agentURL, tunnelName } = (status ?? {}) as Status;
  return agentURL === url && tunnelName === name;
}

/** With what the agent showed when it answered this very start, also where that is not on record yet. */
export function asAnswered(
  started: Started,
  { answeredStart, answeredLook }: Pick<Facts, 'answeredStart' | 'answeredLook'>,
): Started {
  const isOfThat = answeredLook !== undefined && started.startedAt === answeredStart;
  return isOfThat ? { ...started, shown: answeredLook } : started;
}

/** The options that the agent showed of this very start, where the status says so. */
export function baselineIn(object: ManagedObject, started: Started): string | undefined {
  const { startedAt, shownOptions } = (object.status ?? {}) as Status;
  const isOfThat = startedAt === started.startedAt && isShown(object, started);
  return isOfThat && typeof shownOptions === 'string' ? shownOptions : undefined;
}

/**
 * This start of it was answered: this process had the answer, or the status tells of it. A definition of an older release keeps
 * that out of the status.
 */
export function isAnswered(object: ManagedObject, started: Started, facts: Pick<Facts, 'answeredStart'>): boolean {
  if (started.startedAt !== undefined && started.startedAt === facts.answeredStart) return true;
  const { startedAt, uri } = (object.status ?? {}) as Status;
  const { observedGeneration = 0 } = conditionOf(object, 'Ready') ?? {};
  const isOfThat = startedAt === started.startedAt && observedGeneration >= (started.generation ?? 0);
  return isOfThat && uri !== undefined && isShown(object, started);
}

/** No start that was asked for under its name is without an answer: what looks otherwise is another's. */
export function isSure(object: ManagedObject, started: Started, facts: Pick<Facts, 'answeredStart'>): boolean {
  return isAnswered(object, started, facts) && started.before === undefined;
}

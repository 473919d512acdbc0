import { z } from 'zod';
import type { Flight } from '../core/network.ts';

/** A share of what is concerned. */
export const probability = z.number().min(0).max(1);

export const ms = z.number().min(0);

/** What the operator talks to. */
export const service = z.enum(['cloud', 'kube', 'agents']).default('cloud');

export const goesTo = ({ to }: Flight, wanted: { readonly to: z.output<typeof service> }): boolean =>
  wanted.to === 'agents' ? to.name.startsWith('agent-') : to.name === wanted.to;

/** Which calls to the cloud. */
export const calls = z.enum(['all', 'mutating']).default('all');

/** Options of a trouble. What differs in `salt` alone does the same to other requests, or at other times. */
export function options<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject({ salt: z.int().default(0), ...shape });
}

/** Which sort of call it is. */
export const isMutating = ({ method }: { readonly method: string }): boolean => method !== 'GET';

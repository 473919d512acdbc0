import { type Random, randomLabel } from '../ids.ts';
import { AgentProblem } from '../problem.ts';
import type { HttpDefinition } from './definition.ts';

/** The host label of an http tunnel. @throws AgentProblem when the one that is asked for is taken. */
export function labelOf(
  { name, subdomain }: HttpDefinition,
  isTaken: (label: string) => boolean,
  random: Random,
): string {
  if (subdomain !== undefined) {
    if (isTaken(subdomain)) throw new AgentProblem('nameTaken', `subdomain "${subdomain}" is in use`);
    return subdomain;
  }
  const wanted = name.toLowerCase();
  return isLabel(wanted) && !isTaken(wanted) ? wanted : randomLabel(random);
}

const isLabel = (text: string): boolean => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text);

import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { readBody } from './body.ts';
import { controlPrefix } from './control-path.ts';
import { FaultSpecError } from './faults/fault-spec.ts';
import type { Faults } from './faults/faults.ts';
import type { Journal } from './journal.ts';
import { ApiProblem } from './problem.ts';

const faultBody = z.strictObject({ spec: z.string({ error: 'must be a string' }) });

/** `/_faults` and `/_requests`: what tests steer the server by. Needs no key. */
export function controlRoutes(app: FastifyInstance, faults: Faults, journal: Journal): void {
  const faultsUrl = `${controlPrefix}faults`;
  const requestsUrl = `${controlPrefix}requests`;
  app.get(faultsUrl, async () => ({ faults: faults.list() }));
  app.post(faultsUrl, async (request, reply) => {
    addFault(faults, readBody(faultBody, request.body).spec);
    return reply.code(201).send({ faults: faults.list() });
  });
  app.delete(faultsUrl, async (_, reply) => {
    faults.clear();
    return reply.code(204).send();
  });
  app.get(requestsUrl, async () => ({ requests: journal.entries() }));
  app.delete(requestsUrl, async (_, reply) => {
    journal.clear();
    return reply.code(204).send();
  });
}

function addFault(faults: Faults, spec: string): void {
  try {
    faults.add(spec);
  } catch (error) {
    if (error instanceof FaultSpecError) throw new ApiProblem('fieldInvalid', `invalid field "spec": ${error.message}`);
    throw error;
  }
}

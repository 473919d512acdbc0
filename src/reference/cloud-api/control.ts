import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { readBody } from './body.ts';
import { FaultSpecError } from './faults/fault-spec.ts';
import type { Faults } from './faults/faults.ts';
import type { Access } from './guard.ts';
import type { Journal } from './journal.ts';
import { ApiProblem } from './problem.ts';

const faultBody = z.strictObject({ spec: z.string({ error: 'must be a string' }) });

/** `/_faults` and `/_requests`: what tests steer the server by. Needs no key. */
export function controlRoutes(app: FastifyInstance, faults: Faults, journal: Journal): void {
  const open = { config: { access: 'open' satisfies Access } };
  app.get('/_faults', open, async () => ({ faults: faults.list() }));
  app.post('/_faults', open, async (request, reply) => {
    addFault(faults, readBody(faultBody, request.body).spec);
    return reply.code(201).send({ faults: faults.list() });
  });
  app.delete('/_faults', open, async (_, reply) => {
    faults.clear();
    return reply.code(204).send();
  });
  app.get('/_requests', open, async () => ({ requests: journal.entries() }));
  app.delete('/_requests', open, async (_, reply) => {
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

import { z } from 'zod';
import { readBody } from './body.ts';
import { FaultSpecError } from './faults/fault-spec.ts';
import type { Faults } from './faults/faults.ts';
import { type Journal, withoutSecrets } from './journal.ts';
import type { ApiRequest, Route } from './operation.ts';
import { ApiProblem } from './problem.ts';

const faultBody = z.strictObject({ spec: z.string({ error: 'must be a string' }) });

/** `/_faults` and `/_requests`: what tests steer the server by. From this machine they need no key. */
export function controlRoutes(faults: Faults, journal: Journal): readonly Route[] {
  const listed = () => ({ faults: faults.list() });
  const add = ({ body }: ApiRequest) => {
    addFault(faults, readBody(faultBody, body).spec);
    return listed();
  };
  const listRequests = () => ({ requests: journal.entries().map(withoutSecrets) });
  return [
    { method: 'GET', path: '/_faults', status: 200, handle: listed },
    { method: 'POST', path: '/_faults', status: 201, handle: add },
    { method: 'DELETE', path: '/_faults', status: 204, handle: () => faults.clear() },
    { method: 'GET', path: '/_requests', status: 200, handle: listRequests },
    { method: 'DELETE', path: '/_requests', status: 204, handle: () => journal.clear() },
  ];
}

function addFault(faults: Faults, spec: string): void {
  try {
    faults.add(spec);
  } catch (error) {
    if (error instanceof FaultSpecError) throw new ApiProblem('fieldInvalid', `invalid field "spec": ${error.message}`);
    throw error;
  }
}

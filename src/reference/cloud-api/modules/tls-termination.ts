import { z } from 'zod';
import { enabled, text } from '../fields.ts';
import { ApiProblem } from '../problem.ts';
import { defineModule } from './module.ts';

/** What the service picks for edges that terminate TLS when `min_version` is unspecified. */
const defaultMinVersion = '1.2';

export const tlsTermination = defineModule({
  name: 'tls_termination',
  title: 'TlsTerminationModule',
  parent: 'httpsEdge',
  onUpstream: true,
  body: z.strictObject({ enabled, min_version: text.min(1, 'must not be empty').nullable().default(null) }),
  answer: z.strictObject({ enabled, terminate_at: z.enum(['edge', 'upstream']), min_version: text.nullable() }),
  replace: (body, { parent }) => {
    if (parent.terminateAt === 'upstream' && body.min_version !== null) {
      throw new ApiProblem(
        'upstreamMinVersion',
        'invalid field "min_version": must be null, the edge terminates upstream',
      );
    }
    return body;
  },
  render: (stored, { parent }) => ({
    enabled: stored.enabled,
    terminate_at: parent.terminateAt,
    min_version: parent.terminateAt === 'upstream' ? null : (stored.min_version ?? defaultMinVersion),
  }),
});
